import { type Dirent, readdirSync } from "node:fs";
import { resolve } from "node:path";
import { errorCode } from "../text/error-message.ts";
import { resolveLinks } from "../tools/workspace/resolve-links.ts";
import { segmentMatches, widenGlob } from "./glob.ts";
import { type GuardPlaces, isInside } from "./guarded-paths.ts";
import { looksSecret } from "./secrets.ts";
import type { Word } from "./shell-word.ts";
import type { SimpleCommand } from "./simple-command.ts";

/** How a command uses a path: its name alone, a file's text, or all the text below it. */
export type Use = "name" | "text" | "folder";

/** Whether the word names something inside the work directory, from each folder that the command may run in, links followed. */
export const mayRead = (word: Word, command: SimpleCommand, use: Use, places: GuardPlaces): boolean => {
  const { text, glob } = word;
  if (text === null) return false;
  if (text === "-" || text === "/dev/null") return true;
  // `link/..` is not where it seems to be, and where `cd` repeats, nobody knows what is above.
  if (text.split("/").includes("..")) return false;
  return command.directories.every((directory) => {
    if (directory === null) return false;
    const path = resolve(directory, text);
    return isOpen(path, use, places) && leadsInside(path, glob, use, places);
  });
};

/** By its spelling alone. */
const isOpen = (path: string, use: Use, places: GuardPlaces): boolean => {
  const { workDir, homeDir, harnessHome, addedDirs = [] } = places;
  const roots = [workDir, ...addedDirs.map((dir) => resolve(workDir, dir))];
  if (!roots.some((root) => path === root || isInside(path, root))) return false;
  if (path === harnessHome || isInside(path, harnessHome)) return false;
  if (/\/\.harness9\/settings(\.local)?\.json$/i.test(path)) return false;
  // A folder of secrets is as secret as what it holds.
  if (looksSecret(`${path.toLowerCase()}/x`)) return false;
  return use === "name" || !looksSecret(path, homeDir);
};

const leadsInside = (path: string, glob: boolean, use: Use, places: GuardPlaces): boolean => {
  try {
    const real = glob ? expand(path) : [resolveLinks(path)];
    const realPlaces = real?.every((one) => one === path) ? places : withRealFolders(places);
    return (
      real?.every((one) => isOpen(one, use, realPlaces) && !(use === "folder" && holdsSecret(one, places))) ?? false
    );
  } catch (error) {
    // What the system cannot look up, as links in a circle, is nothing to be sure of.
    if (errorCode(error) === undefined) throw error;
    return false;
  }
};

const withRealFolders = (places: GuardPlaces): GuardPlaces => ({
  ...places,
  workDir: resolveLinks(places.workDir),
  addedDirs: (places.addedDirs ?? []).map((dir) => resolveLinks(resolve(places.workDir, dir))),
});

const MAX_FOUND = 200;

/** The real paths of what a glob stands for now; undefined where that is too much to look at. */
const expand = (pattern: string): readonly string[] | undefined => {
  const segments = pattern.split("/").slice(1);
  const first = segments.findIndex(isGlob);
  let found: readonly string[] = [resolveLinks(`/${segments.slice(0, first).join("/")}`)];
  for (const segment of segments.slice(first)) {
    found = found.flatMap((folder) =>
      isGlob(segment) ? matching(folder, segment) : [resolveLinks(`${folder}/${segment}`)],
    );
    if (found.length > MAX_FOUND) return undefined;
  }
  return found;
};

const isGlob = (segment: string): boolean => /[*?[]/.test(segment);

const matching = (folder: string, segment: string): readonly string[] => {
  const pattern = widenGlob(segment);
  // A hidden name is matched only by a pattern that says the dot.
  const isHidden = (name: string) => name.startsWith(".") && !segment.startsWith(".");
  return entriesOf(folder).flatMap((entry) => {
    if (!segmentMatches(pattern, entry.name) || isHidden(entry.name)) return [];
    const path = `${folder}/${entry.name}`;
    return [entry.isSymbolicLink() ? resolveLinks(path) : path];
  });
};

const entriesOf = (folder: string): readonly Dirent[] => {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    return [];
  }
};

/** Whether a search through the folder would come upon secrets at once; below its first level nobody looks. */
const holdsSecret = (folder: string, { homeDir, harnessHome }: GuardPlaces): boolean =>
  [homeDir, harnessHome].some((place) => place === folder || isInside(place, folder)) ||
  entriesOf(folder).some((entry) => {
    const path = `${folder}/${entry.name}`;
    return entry.isDirectory() ? looksSecret(`${path.toLowerCase()}/x`) : looksSecret(path, homeDir);
  });
