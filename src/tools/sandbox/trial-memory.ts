import { createHash } from "node:crypto";
import { lstatSync, readFileSync, readlinkSync, rmSync, statSync, writeFileSync } from "node:fs";

/**
 * That the sandbox has been started here with these arguments before, and whatever else decides about that is as it was:
 * trying it costs 40 ms.
 */
export interface TrialMemory {
  has(program: string, args: readonly string[]): boolean;
  keep(program: string, args: readonly string[]): void;
  /** The next session tries it anew. */
  forget(): void;
}

/** Of so many places where sessions begin. */
const MAX_KEPT = 20;
const MAX_BYTES = 4096;

/** In one small file, a line for each trial. Never throws: without it each session tries. */
export const createTrialMemory = (file: string): TrialMemory => {
  const known = (): readonly string[] => {
    const stats = lstatSync(file, { throwIfNoEntry: false });
    if (!stats) return [];
    if (!stats.isFile() || stats.size > MAX_BYTES) throw new Error("somebody else's file");
    return readFileSync(file, "utf8").split("\n");
  };
  return {
    has: (program, args) => {
      const state = systemState(program, args);
      return state !== null && (attempt(known)?.includes(state) ?? false);
    },
    keep: (program, args) => {
      const state = systemState(program, args);
      if (state === null) return;
      attempt(() => writeFileSync(file, [state, ...known()].slice(0, MAX_KEPT).join("\n"), { mode: 0o600 }));
    },
    forget: () => void attempt(() => rmSync(file, { force: true })),
  };
};

const SWITCHES = [
  "kernel/random/boot_id",
  "kernel/apparmor_restrict_unprivileged_userns",
  "kernel/unprivileged_userns_clone",
  "user/max_user_namespaces",
].map((name) => `/proc/sys/${name}`);

/** Of the program, the arguments, the kernel and our process, as a hash. Null where the system does not tell (no Linux). */
const systemState = (program: string, args: readonly string[]): string | null =>
  attempt(() => {
    const { ino, size, mtimeMs } = statSync(program);
    const status = readFileSync("/proc/self/status", "utf8").match(/^(?:Uid|Gid|Cap\w+|NoNewPrivs|Seccomp):.*$/gm);
    const switches = SWITCHES.map((path) => attempt(() => readFileSync(path, "utf8")));
    if (switches[0] === null) return null;
    const places = ["user", "mnt"].map((name) => readlinkSync(`/proc/self/ns/${name}`));
    const profile = attempt(() => readFileSync("/proc/self/attr/current", "utf8"));
    const state = JSON.stringify([program, ino, size, mtimeMs, args, status, switches, places, profile]);
    return createHash("sha256").update(state).digest("hex");
  });

const attempt = <Result>(action: () => Result): Result | null => {
  try {
    return action();
  } catch {
    return null; // not there, or not to be read or written
  }
};
