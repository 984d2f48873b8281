import { resolve } from "node:path";
import { segmentMatches, widenGlob } from "./glob.ts";
import type { Word } from "./shell-word.ts";
import type { SimpleCommand } from "./simple-command.ts";

/** Absolute paths, symlinks resolved. */
export type GuardPlaces = {
  readonly workDir: string;
  readonly homeDir: string;
  /** Where our own settings and sessions are kept. */
  readonly harnessHome: string;
  readonly addedDirs?: readonly string[];
  readonly tempDirs?: readonly string[];
};

/** Where a word points, from each folder that the command may run in; null where that cannot be known. */
export const pathsOf = (word: Word, command: SimpleCommand): (string | null)[] => {
  const { text } = word;
  if (text === null) return [null];
  return command.directories.map((directory) => {
    if (text.startsWith("/")) return resolve(text);
    return directory === null ? null : resolve(directory, text);
  });
};

/** Whether a path, which may hold globs, may be the other one or lie in it. */
const mayBeIn = (path: string, folder: string): boolean => {
  const segments = segmentsOf(path);
  return segmentsOf(folder).every((name, index) => mayBe(segments[index], name));
};

const mayBe = (segment: string | undefined, name: string): boolean => {
  if (segment === undefined) return false;
  // A glob matches a hidden file only where it says the dot.
  if (name.startsWith(".") && !/^[.[]/.test(segment)) return false;
  return /[*?[]/.test(segment) ? segmentMatches(widenGlob(segment), name) : segment === name;
};

const segmentsOf = (path: string): string[] => path.split("/").filter((segment) => segment !== "");

/** Whether the paths are the same, or the first is a parent of the second. */
const mayHold = (path: string, inner: string): boolean => {
  const names = segmentsOf(inner);
  return segmentsOf(path).every((segment, index) => mayBe(segment, names[index] ?? "/"));
};

/** What would be hit, or done; `unknown` where only the shell can know. */
export type Harm =
  | "root"
  | "system"
  | "home"
  | "work"
  | "repository"
  | "settings"
  | "elsewhere"
  | "gitControl"
  | "startup"
  | "device"
  | "unknown"
  | "uncommitted"
  | "untracked"
  | "published"
  | "unmerged"
  | "stashed"
  | "gitRuns"
  | "ownRules"
  | "erases"
  | "stops"
  | "endsAll"
  | "endless"
  | "unseen";

export type GuardHit = {
  /** The name of the rule, as people read it: `rm -r`, `git reset --hard` … */
  readonly rule: string;
  /** What would be hit, as written. */
  readonly subject: string;
  readonly harm: Harm;
  /** False: it may be harmless, but only the shell can know (`rm -rf "$x"`), or it is outside without being vital. */
  readonly isCertain: boolean;
};

const SYSTEM: readonly string[] =
  "bin boot dev etc home lib lib32 lib64 libx32 opt proc root run sbin srv sys usr var Applications Library System Users Volumes private cores nix snap".split(
    " ",
  );

const TEMP: readonly string[] = [
  "/tmp",
  "/var/tmp",
  "/private/tmp",
  "/private/var/folders",
  "/var/folders",
  "/dev/shm",
];

/** What a recursive deletion (or change of mode or owner) of this path would hit; undefined inside the work directory and temp. */
export const recursiveHarm = (absolute: string, escapes: boolean, places: GuardPlaces): Harm | undefined => {
  const { workDir, homeDir } = places;
  // Deleting `x/*` is deleting what x holds.
  const path = absolute.replace(/(\/(?=[^/]*\*)[*?.]+)+$/, "") || "/";
  if (path === "/") return "root";
  const roots = [workDir, ...(places.addedDirs ?? [])];
  if (mayHold(path, homeDir)) return "home";
  if (roots.some((root) => mayHold(path, root))) return "work";
  if (mayBeIn(path, places.harnessHome) || mayHold(path, places.harnessHome)) return "settings";
  if (roots.some((root) => isInside(path, root))) {
    const inner = segmentsOf(path);
    const last = inner.at(-1);
    if (mayBe(last, ".git")) return "repository";
    return mayBe(last, ".harness9") ? "settings" : undefined;
  }
  if (escapes) return isInside(path, homeDir) ? "home" : "elsewhere";
  if ([...TEMP, ...(places.tempDirs ?? [])].some((temp) => path === temp || isInside(path, temp))) return undefined;
  if (isInside(path, homeDir)) return "home";
  return SYSTEM.some((name) => mayBe(segmentsOf(path)[0], name)) ? "system" : "elsewhere";
};

// "/project-evil" starts with "/project"; compare with the separator.
export const isInside = (path: string, folder: string): boolean =>
  path.startsWith(folder.endsWith("/") ? folder : `${folder}/`);

/** Why nobody but a person may write this path: it decides what programs do later. */
export const writeHarm = (path: string, { homeDir, harnessHome }: GuardPlaces): Harm | undefined => {
  if (mayBeIn(path, harnessHome)) return "settings";
  // Where upper and lower case are one, as on macOS, `.GIT` is `.git`.
  const segments = segmentsOf(path.toLowerCase());
  for (const [index, segment] of segments.entries()) {
    const rest = segments.slice(index + 1);
    if (mayBe(segment, ".harness9") && !OWN_WRITABLE.has(rest[0] ?? "")) return "settings";
    if (mayBe(segment, ".git") && isGitControl(rest)) return "gitControl";
  }
  if (mayBe(segments.at(-1), ".mcp.json")) return "settings";
  if (STARTUP.some((name) => mayBeIn(path, `${homeDir}/${name}`))) return "startup";
  if (SYSTEM_STARTUP.some((name) => mayBeIn(path, name))) return "startup";
  return isDevice(path) ? "device" : undefined;
};

const OWN_WRITABLE: ReadonlySet<string> = new Set(["memory", "agents", "commands", "skills", ".gitignore"]);

const isGitControl = (rest: readonly string[]): boolean => {
  const inGit = rest[0] === "modules" || rest[0] === "worktrees" ? rest.slice(2) : rest;
  if (rest.length === 0) return true;
  if (["hooks", "config", "config.worktree"].some((name) => inGit.some((segment) => mayBe(segment, name)))) return true;
  return (
    inGit.length >= 2 &&
    mayBe(inGit.at(-2), "info") &&
    ["alternates", "attributes"].some((name) => mayBe(inGit.at(-1), name))
  );
};

const STARTUP: readonly string[] =
  ".bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile .zlogin .zlogout .kshrc .cshrc .tcshrc .login .logout .inputrc .xprofile .xinitrc .xsession .gitconfig .config/git .config/fish .config/autostart .config/systemd .config/environment.d .ssh .pam_environment Library/LaunchAgents".split(
    " ",
  );

const SYSTEM_STARTUP: readonly string[] =
  "/etc/profile /etc/profile.d /etc/bash.bashrc /etc/bashrc /etc/zsh /etc/zshrc /etc/zshenv /etc/environment /etc/gitconfig /etc/crontab /etc/cron.d /var/spool/cron /etc/ld.so.preload /etc/sudoers /etc/sudoers.d".split(
    " ",
  );

/** A device whose writing can destroy a disk. */
export const isDevice = (path: string): boolean =>
  path.startsWith("/dev/") &&
  !/^\/dev\/(null|zero|full|tty|ptmx|stdin|stdout|stderr|u?random|(fd|shm|pts|mqueue|tcp|udp)(\/.*)?)$/.test(path);
