import { lstatSync, readlinkSync } from "node:fs";
import { dirname, isAbsolute, join, parse, sep } from "node:path";
import { errorCode } from "../../text/error-message.ts";

// What Linux allows in one path.
const MAX_LINKS = 40;

/**
 * The real path of `path` (absolute), whether it exists or not: every symlink on the way is followed,
 * dangling ones to where they point; what does not exist yet stays as it is written.
 * @throws the system's error, ELOOP for links in a circle.
 */
export const resolveLinks = (path: string, isLink = isSymbolicLink): string => {
  const { root } = parse(path);
  let current = root;
  let links = 0;
  const pending = path.slice(root.length).split(sep).reverse();
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    if (name === "" || name === ".") continue;
    if (name === "..") {
      current = dirname(current);
      continue;
    }
    const next = join(current, name);
    if (!isLink(next)) {
      current = next;
      continue;
    }
    links += 1;
    if (links > MAX_LINKS) throw Object.assign(new Error(`too many symbolic links: ${path}`), { code: "ELOOP" });
    const target = readlinkSync(next);
    if (isAbsolute(target)) current = root;
    pending.push(...target.split(sep).reverse());
  }
  return current;
};

/** False for what is not there. */
export const isSymbolicLink = (path: string): boolean => {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
  } catch (error) {
    // Below a file there is nothing; whoever opens the path is told so.
    if (errorCode(error) === "ENOTDIR") return false;
    throw error;
  }
};
