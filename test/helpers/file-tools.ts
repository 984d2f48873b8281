import { join } from "node:path";
import { zh } from "../../src/text/zh.ts";
import { createEditFile } from "../../src/tools/builtin/edit-file.ts";
import { createReadFile } from "../../src/tools/builtin/read-file.ts";
import { createWriteFile } from "../../src/tools/builtin/write-file.ts";
import { createPathLocks } from "../../src/tools/workspace/path-lock.ts";
import { createWorkspace, type WorkspaceOptions } from "../../src/tools/workspace/workspace.ts";

export type FileToolsOptions = Partial<WorkspaceOptions> & { readonly maxReadBytes?: number };

/** The three file tools on `workDir`, with a home beside it that holds nothing. */
export const fileTools = (workDir: string, { maxReadBytes = 4096, ...folders }: FileToolsOptions = {}) => {
  const homeDir = folders.homeDir ?? join(workDir, "..", "no-home");
  const workspace = createWorkspace({ workDir, homeDir, harnessHome: join(homeDir, ".harness9"), ...folders });
  const options = { workspace, locks: createPathLocks(), strings: zh };
  return {
    workspace,
    locks: options.locks,
    readFile: createReadFile({ ...options, maxReadBytes }),
    writeFile: createWriteFile(options),
    editFile: createEditFile(options),
  };
};
