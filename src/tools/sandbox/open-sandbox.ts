import { execFile } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { bubblewrapArguments, statusArguments } from "./bubblewrap.ts";
import { findProgram } from "./find-program.ts";
import { createMountPoints } from "./mount-points.ts";
import { isIn, lookedAtOnce, type PlaceKind, placeKind } from "./place-kind.ts";
import { CACHES, createPolicy, type PolicyOptions } from "./policy.ts";
import type { Sandbox, SandboxName, SandboxPolicy } from "./sandbox.ts";
import { seatbeltArguments } from "./seatbelt.ts";
import { foldersBetween, settledFor } from "./settled-places.ts";
import type { TrialMemory } from "./trial-memory.ts";

export type OpenSandboxOptions = PolicyOptions & {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  /** Absent where it is to be tried now. */
  readonly memory?: TrialMemory | undefined;
};

export type SandboxProblem =
  | { readonly type: "platform" }
  | { readonly type: "no-program"; readonly name: SandboxName }
  /** `said` by the program, when it was tried. */
  | { readonly type: "failed"; readonly name: SandboxName; readonly said: string };

export type FoundSandbox = { readonly type: "works"; readonly sandbox: Sandbox } | SandboxProblem;

const TRIAL_TIMEOUT_MS = 5000;

/** The system's sandbox with the policy of a session. It has been started before: what does not work is not offered. */
export const openSandbox = async (options: OpenSandboxOptions): Promise<FoundSandbox> => {
  const name = options.platform === "linux" ? "bubblewrap" : options.platform === "darwin" ? "seatbelt" : null;
  if (name === null) return { type: "platform" };
  const policy = createPolicy(options);
  const program = programFor(name, options, policy());
  if (program === undefined) return { type: "no-program", name };
  const { memory } = options;
  const prepare = (): void => makeCaches(options.homeDir);
  const sandbox = createSandbox({ name, program, policy, prepare, ...(memory && { failed: memory.forget }) });
  const status = name === "bubblewrap" ? statusArguments(1) : [];
  const args = [...status, ...argumentsOf(name, policy()), "true"];
  if (memory?.has(program, args)) return { type: "works", sandbox };
  // Without mount points of its own: a trial leaves no trace, not even for a moment.
  const said = await trial(program, args, options.env);
  if (said !== null) return { type: "failed", name, said };
  memory?.keep(program, args);
  return { type: "works", sandbox };
};

/** Makes the folders of caches, which a confined command cannot make for itself. */
const makeCaches = (homeDir: string): void => {
  for (const cache of CACHES) {
    try {
      mkdirSync(join(homeDir, cache), { recursive: true, mode: 0o700 });
    } catch {
      // A home that cannot be written: programs do without.
    }
  }
};

/** One that a command could have put there confines nothing. */
const programFor = (name: SandboxName, { env }: OpenSandboxOptions, policy: SandboxPolicy): string | undefined =>
  name === "seatbelt"
    ? findProgram("sandbox-exec", "/usr/bin")
    : findProgram(
        "bwrap",
        env["PATH"] ?? "",
        policy.writable.filter((path) => path !== "/"),
      );

export type SandboxOptions = {
  readonly name: SandboxName;
  /** The absolute path of bwrap or sandbox-exec. */
  readonly program: string;
  readonly policy: () => SandboxPolicy;
  /** Before each command. */
  readonly prepare?: () => void;
  readonly failed?: () => void;
};

export const createSandbox = ({ name, program, policy, prepare, failed }: SandboxOptions): Sandbox => {
  const mountPoints = createMountPoints();
  /** What is mounted for each command that lives. */
  const living = new Set<SandboxPolicy>();
  const confine = (
    statusFd: number | undefined,
  ): { readonly args: readonly string[]; readonly release: () => void } => {
    const wanted = policy();
    const giveBack = mountPoints.hold(preventable(wanted));
    const kindOf = lookedAtOnce(placeKind);
    const all = { ...wanted, writable: [...wanted.writable, ...foldersBetween(wanted)] };
    const now = settledFor(mounted(all, kindOf), living);
    living.add(now);
    const release = (): void => {
      living.delete(now);
      giveBack();
    };
    const status = statusFd === undefined ? [] : statusArguments(statusFd);
    return { args: [...status, ...argumentsOf(name, now, kindOf)], release };
  };
  return {
    name,
    program,
    staysBetween: name === "bubblewrap",
    policy,
    wrap: (file, args, statusFd) => {
      prepare?.();
      const own =
        name === "bubblewrap" ? confine(statusFd) : { args: argumentsOf(name, policy()), release: () => undefined };
      return { file: program, args: [...own.args, file, ...args], release: own.release };
    },
    failed: () => failed?.(),
    close: mountPoints.close,
  };
};

const argumentsOf = (name: SandboxName, policy: SandboxPolicy, kindOf = placeKind): readonly string[] =>
  name === "bubblewrap"
    ? bubblewrapArguments({ policy, kindOf, isRoot: process.getuid?.() === 0 })
    : seatbeltArguments(policy);

/** Only what is there can be mounted. */
const mounted = (policy: SandboxPolicy, kindOf: (path: string) => PlaceKind): SandboxPolicy => {
  const there = (paths: readonly string[]) => paths.filter((path) => kindOf(path) !== "missing");
  const { writable, readOnly, hidden, visible } = policy;
  return {
    ...policy,
    writable: there(writable),
    readOnly: there(readOnly),
    hidden: there(hidden),
    visible: there(visible),
  };
};

/** What the command could make, and must not: elsewhere it can make nothing. */
const preventable = ({ workDir, writable, readOnly, hidden }: SandboxPolicy): readonly string[] =>
  // Without a work directory nothing starts, and it must not come back by this.
  placeKind(workDir) === "folder"
    ? [...readOnly, ...hidden].filter((path) => writable.some((folder) => isIn(folder, path)))
    : [];

const trial = (program: string, args: readonly string[], env: OpenSandboxOptions["env"]): Promise<string | null> =>
  new Promise((resolve) => {
    execFile(program, [...args], { env: { ...env }, timeout: TRIAL_TIMEOUT_MS }, (error, _stdout, stderr) =>
      resolve(error === null ? null : stderr.trim().split("\n").at(-1) || error.message),
    );
  });
