import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";

const KEPT_MS = 30 * 86_400_000;

/**
 * Node keeps compiled code there (bin/harness9.js) and never removes any, also not that of versions that have gone. What is
 * used and removed is compiled once more. Never throws for the system's sake.
 */
export const trimCompileCache = async (home: string, now: number): Promise<void> => {
  const folder = join(home, "compile-cache");
  for (const name of await readdir(folder, { recursive: true }).catch(() => [])) {
    const path = join(folder, name);
    const stats = await stat(path).catch(() => null);
    if (stats?.isFile() && now - stats.mtimeMs > KEPT_MS) await rm(path, { force: true }).catch(() => undefined);
  }
};
