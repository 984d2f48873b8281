import { lstat, readdir, rm } from "node:fs/promises";
import { join } from "node:path";

const KEPT_MS = 30 * 86_400_000;

/**
 * Node keeps compiled code there (bin/harness9.js), in a folder for each of its versions, and never removes any, also not
 * that of versions that have gone. What is used and removed is compiled once more. Follows no link. Never throws for the
 * system's sake.
 */
export const trimCompileCache = async (home: string, now: number): Promise<void> => {
  const root = join(home, "compile-cache");
  if (!(await lstat(root).catch(() => null))?.isDirectory()) return;
  for (const folder of await entriesOf(root)) {
    if (!folder.isDirectory()) continue;
    for (const file of await entriesOf(join(root, folder.name))) {
      const path = join(root, folder.name, file.name);
      const stats = file.isFile() ? await lstat(path).catch(() => null) : null;
      if (stats && now - stats.mtimeMs > KEPT_MS) await rm(path, { force: true }).catch(() => undefined);
    }
  }
};

const entriesOf = (folder: string) => readdir(folder, { withFileTypes: true }).catch(() => []);
