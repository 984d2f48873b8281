import { isAbsolute, relative, resolve, sep } from "node:path";
import type { Strings } from "../../text/strings.ts";
import { byteLength } from "../../text/utf8.ts";
import { FileError, fromSystem } from "./file-error.ts";
import { resolveLinks } from "./resolve-links.ts";
import { showPath } from "./show-path.ts";
import type { Place, Workspace } from "./workspace.ts";

export type PathUse = "read" | "write";

export type PathRules = { readonly workspace: Workspace; readonly strings: Strings };

// POSIX limits; longer ones fail in the system with errors that name no cause.
const MAX_PATH_BYTES = 4095;
const MAX_NAME_BYTES = 255;

/**
 * The real absolute path that a file tool may open for `path`: relative to the work directory or absolute, `~` is a
 * literal name. Refused: sensitive places first, then what is not inside the workspace, then both again after the
 * symlinks on the way (dangling ones too) are resolved.
 * @throws FileError
 */
export const safePath = ({ workspace, strings }: PathRules, path: string, use: PathUse): string => {
  checkSpelling(path, strings.files);
  const check = { workspace, use, shown: showPath(path), strings: strings.files };
  const asked = resolve(workspace.workDir, path);
  checkPlace({ ...check, path: asked, roots: ({ named, real }: Place) => [named, real] });
  const real = followLinks(asked, check.shown, strings.files);
  checkPlace({ ...check, path: real, roots: ({ real }: Place) => [real] });
  if (use === "write" && path.endsWith(sep))
    throw new FileError("is-directory", check.strings.isDirectory(check.shown));
  return real;
};

const checkSpelling = (path: string, strings: Strings["files"]): void => {
  const refuse = (sentence: string) => new FileError("bad-path", sentence);
  if (path.trim() === "") throw refuse(strings.pathEmpty);
  if (path.includes("\0") || /\p{Cs}/u.test(path)) throw refuse(strings.pathInvalid(showPath(path)));
  if (byteLength(path) > MAX_PATH_BYTES || path.split(sep).some((name) => byteLength(name) > MAX_NAME_BYTES))
    throw refuse(strings.pathTooLong(showPath(path)));
};

const followLinks = (path: string, shown: string, strings: Strings["files"]): string => {
  try {
    return resolveLinks(path);
  } catch (error) {
    throw fromSystem(error, strings, (reason) => strings.pathUnusable(shown, reason));
  }
};

type PlaceCheck = {
  readonly workspace: Workspace;
  readonly use: PathUse;
  readonly shown: string;
  readonly strings: Strings["files"];
  readonly path: string;
  /** The spellings of a folder that count at this step. */
  readonly roots: (place: Place) => readonly string[];
};

const checkPlace = ({ workspace, use, shown, strings, path, roots }: PlaceCheck): void => {
  const readable = use === "read" && workspace.readable.flatMap(roots).some((root) => isInside(root, path));
  const root = workspace.writable.flatMap(roots).find((root) => isInside(root, path));
  const inHarnessHome = [workspace.harnessHome.named, workspace.harnessHome.real].some((home) => covers(home, path));
  if (workspace.sensitive.some((place) => covers(place, path)) || (inHarnessHome && !readable))
    throw new FileError("sensitive", strings.sensitive(shown));
  if (readable) return;
  if (root === undefined) throw new FileError("outside", strings.outside(shown));
  const names = fold(relative(root, path)).split(sep);
  if (isOurSettings(names)) throw new FileError("sensitive", strings.sensitive(shown));
  if (use === "write" && isProtected(names)) throw new FileError("protected", strings.protected(shown));
};

/** By segments: `/project-evil` starts with `/project` and is not inside it; `..x` is a name. */
const isInside = (root: string, path: string): boolean => {
  const rest = relative(root, path);
  return rest !== ".." && !rest.startsWith(`..${sep}`) && !isAbsolute(rest);
};

// On a case-insensitive file system `.SSH` is `.ssh`; elsewhere refusing it costs nothing.
const fold = (path: string): string => path.normalize("NFC").toLowerCase();

const covers = (place: string, path: string): boolean => isInside(fold(place), fold(path));

const isOurSettings = (names: readonly string[]): boolean =>
  names.at(-2) === ".harness9" && ["settings.json", "settings.local.json"].includes(names.at(-1) ?? "");

const GIT_CONFIGURATION = ["config", "config.worktree", "alternates", "commondir", "gitdir"];

/** What configures us or makes git run programs (also in submodules' and worktrees' folders): a write is refused. */
const isProtected = (names: readonly string[]): boolean => {
  if (names.includes(".harness9") || names.at(-1) === ".mcp.json") return true;
  const git = names.indexOf(".git");
  if (git === -1) return false;
  const inside = names.slice(git + 1);
  return inside.length === 0 || inside.includes("hooks") || GIT_CONFIGURATION.includes(inside.at(-1) ?? "");
};
