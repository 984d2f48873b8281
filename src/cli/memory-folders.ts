import { join } from "node:path";
import type { MemoryFolder } from "../memory/memory-files.ts";
import type { Setup } from "./setup.ts";

/** Where entries are kept: in the project, whose files nobody need trust to be searched, and in the person's home. */
export const memoryFolders = ({ paths, workDir, homeDir }: Setup): readonly MemoryFolder[] => [
  { scope: "project", dir: join(paths.projectHome, "memory"), shown: ".harness9/memory", within: workDir },
  // A link of the person's own counts.
  { scope: "user", dir: paths.memory, shown: withTilde(paths.memory, homeDir), within: paths.memory },
];

/** The path as people write it. */
export const withTilde = (path: string, homeDir: string): string =>
  path.startsWith(`${homeDir}/`) ? `~${path.slice(homeDir.length)}` : path;
