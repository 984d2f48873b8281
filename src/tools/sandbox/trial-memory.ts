import { createHash } from "node:crypto";
import { readFileSync, readlinkSync, rmSync, statSync, writeFileSync } from "node:fs";

/** That the sandbox has been started here before, and whatever decides about that is as it was: trying it costs 40 ms. */
export interface TrialMemory {
  has(program: string): boolean;
  keep(program: string): void;
  /** The next session tries it anew. */
  forget(): void;
}

/** In one small file. Never throws: without it each session tries. */
export const createTrialMemory = (file: string): TrialMemory => ({
  has: (program) => {
    const state = systemState(program);
    return state !== null && attempt(() => readFileSync(file, "utf8")) === state;
  },
  keep: (program) => {
    const state = systemState(program);
    if (state !== null) attempt(() => writeFileSync(file, state, { mode: 0o600 }));
  },
  forget: () => void attempt(() => rmSync(file, { force: true })),
});

const SWITCHES = [
  "kernel/random/boot_id",
  "kernel/apparmor_restrict_unprivileged_userns",
  "kernel/unprivileged_userns_clone",
  "user/max_user_namespaces",
].map((name) => `/proc/sys/${name}`);

/** Of the program, the kernel and our process, as a hash. Null where the system does not tell (no Linux). */
const systemState = (program: string): string | null =>
  attempt(() => {
    const { ino, size, mtimeMs } = statSync(program);
    const status = readFileSync("/proc/self/status", "utf8").match(/^(?:Uid|Gid|Cap\w+|NoNewPrivs|Seccomp):.*$/gm);
    const switches = SWITCHES.map((path) => attempt(() => readFileSync(path, "utf8")));
    if (switches[0] === null) return null;
    const places = ["user", "mnt"].map((name) => readlinkSync(`/proc/self/ns/${name}`));
    const profile = attempt(() => readFileSync("/proc/self/attr/current", "utf8"));
    const state = JSON.stringify([program, ino, size, mtimeMs, status, switches, places, profile]);
    return createHash("sha256").update(state).digest("hex");
  });

const attempt = <Result>(action: () => Result): Result | null => {
  try {
    return action();
  } catch {
    return null; // not there, or not to be read or written
  }
};
