import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";

/**
 * The processes that commands started. Each command's bash leads a session and a group of its own; its pid names both.
 * Where /proc tells (Linux), what belongs to a leader is its whole session, so that `timeout 99 cmd` and `set -m`
 * jobs, which make groups of their own, are found too, and whoever descends from it while it lives.
 * Elsewhere it is the leader's group.
 */
export interface ProcessTree {
  /** The living process groups (a zombie does not live) of what belongs to these leaders. */
  groups(leaders: ReadonlySet<number>): readonly number[];
  /** Of leaders that have exited, those that left somebody behind. */
  abandoned(leaders: Iterable<number>): readonly number[];
  /**
   * The sessions of living processes that were started with `mark` in their environment (Linux). A daemon that made a
   * session of its own and whose parent has gone has no other tie to its command.
   */
  marked(mark: string): readonly number[];
  /** Whether a process other than ours, and than those of the program `except`, has the pipe open (Linux). */
  holds(pipe: string, except: string): boolean;
  /** Whether the leader's own group still has somebody in it: cheap, and true for zombies too. */
  hasGroup(leader: number): boolean;
  signal(groups: Iterable<number>, signal: NodeJS.Signals): void;
}

export const createProcessTree = (platform: NodeJS.Platform): ProcessTree => {
  // Windows has no groups: there it is the process alone.
  const target = (group: number): number => (platform === "win32" ? group : -group);
  const hasGroup = (leader: number): boolean => isAlive(target(leader));
  const list = (): ProcessStat[] | null => (platform === "linux" ? listProcesses() : null);
  return {
    groups: (leaders) => {
      const processes = list();
      return processes === null ? [...leaders].filter(hasGroup) : groupsOf(leaders, processes);
    },
    abandoned: (leaders) => {
      const left = [...leaders];
      const processes = left.length === 0 ? [] : list();
      if (processes === null) return left.filter(hasGroup);
      const sessions = new Set(processes.map(({ session }) => session));
      // A living process with the id of a leader that has exited is a stranger: ids come again.
      const pids = new Set(processes.map(({ pid }) => pid));
      return left.filter((leader) => sessions.has(leader) && !pids.has(leader));
    },
    marked: (mark) => [
      ...new Set((list() ?? []).filter(({ pid }) => hasInEnvironment(pid, mark)).map(({ session }) => session)),
    ],
    holds: (pipe, except) =>
      (list() ?? []).some(({ pid }) => pid !== process.pid && programName(pid) !== except && hasOpen(pid, pipe)),
    hasGroup,
    signal: (groups, signal) => {
      for (const group of groups) send(target(group), signal);
    },
  };
};

const GRACE_MS = 1000;
const POLL_MS = 20;
// Somebody may fork between the look and the kill; whoever stays after this waits in the kernel.
const KILL_ROUNDS = 5;

/** Ends all that belongs to the leaders: SIGTERM, a second of grace, SIGKILL. */
export const endProcesses = async (leaders: Iterable<number>, tree: ProcessTree): Promise<void> => {
  const known = new Set(leaders);
  const living = (): readonly number[] => {
    const groups = tree.groups(known);
    // Once its parent has gone, a process with a session of its own is found by this only.
    for (const group of groups) known.add(group);
    return groups;
  };
  tree.signal(living(), "SIGTERM");
  for (let waited = 0; waited < GRACE_MS && living().length > 0; waited += POLL_MS) await delay(POLL_MS);
  for (let round = 0; round < KILL_ROUNDS && living().length > 0; round += 1) {
    tree.signal(living(), "SIGKILL");
    await delay(POLL_MS);
  }
};

type ProcessStat = { readonly pid: number; readonly parent: number; readonly group: number; readonly session: number };

const groupsOf = (leaders: ReadonlySet<number>, processes: readonly ProcessStat[]): number[] => {
  const found = new Set<ProcessStat>();
  const pids = new Set<number>();
  for (let before = -1; before !== found.size; ) {
    before = found.size;
    for (const stat of processes) {
      if (!leaders.has(stat.session) && !leaders.has(stat.group) && !pids.has(stat.parent)) continue;
      found.add(stat);
      pids.add(stat.pid);
    }
  }
  return [...new Set([...found].map(({ group }) => group))];
};

/** Every living process, or null where /proc cannot be read. */
const listProcesses = (): ProcessStat[] | null => {
  let names: string[];
  try {
    names = readdirSync("/proc");
  } catch {
    return null; // not mounted
  }
  return names.filter((name) => /^\d+$/.test(name)).flatMap((name) => readStat(name) ?? []);
};

/** A file that the kernel has about a process; null where the process has ended since the listing, or is somebody else's. */
const readAbout = (pid: number | string, name: string): Buffer | null => {
  try {
    return readFileSync(`/proc/${pid}/${name}`);
  } catch {
    return null;
  }
};

const readStat = (pid: string): ProcessStat | null => {
  const text = readAbout(pid, "stat")?.toString("latin1");
  if (text === undefined) return null;
  // The name in parentheses may itself hold parentheses and blanks.
  const [state, parent, group, session] = text.slice(text.lastIndexOf(")") + 2).split(" ");
  if (state === "Z" || state === "X") return null;
  return { pid: Number(pid), parent: Number(parent), group: Number(group), session: Number(session) };
};

/** As the kernel has it: 15 bytes of it. */
const programName = (pid: number): string | undefined => readAbout(pid, "comm")?.toString("utf8").trimEnd();

const hasInEnvironment = (pid: number, mark: string): boolean => readAbout(pid, "environ")?.includes(mark) ?? false;

const hasOpen = (pid: number, target: string): boolean => {
  try {
    return readdirSync(`/proc/${pid}/fd`).some((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`) === target);
  } catch {
    return false; // ended since the listing, or somebody else's
  }
};

const isAlive = (target: number): boolean => {
  try {
    return process.kill(target, 0);
  } catch (error) {
    // Somebody is there who changed the user, as with sudo.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
};

const send = (target: number, signal: NodeJS.Signals): void => {
  try {
    process.kill(target, signal);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    // Already gone, or out of our reach.
    if (code !== "ESRCH" && code !== "EPERM") throw error;
  }
};
