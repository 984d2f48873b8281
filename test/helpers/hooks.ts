import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Hook } from "../../src/hooks/hook.ts";
import { createHooks, type Hooks } from "../../src/hooks/hooks.ts";
import { createHookRunner } from "../../src/hooks/run-hook.ts";
import { en } from "../../src/text/en.ts";
import { createProcessTree } from "../../src/tools/shell/process-tree.ts";
import { tempDir } from "./temp-dir.ts";

export const PATH = process.env["PATH"] ?? "";
export const KEY_VALUE = "key-value-0123456789";

export const newRunner = (workDir = tempDir(), env: Readonly<Record<string, string>> = { PATH }) =>
  createHookRunner({ workDir, env, tree: createProcessTree(process.platform) });

/** Hooks that run for real in a folder of their own. */
export const realHooks = (hooks: readonly Hook[]): { readonly hooks: Hooks; readonly dir: string } => {
  const dir = tempDir();
  return {
    dir,
    hooks: createHooks({
      hooks,
      runner: newRunner(dir),
      session: { id: "test", workDir: dir },
      mask: (text) => text.replaceAll(KEY_VALUE, "[masked KEY]"),
      strings: en.hooks,
    }),
  };
};

/** A node program as a command: `input` is what it was told, `say` prints. */
export const program = (dir: string, name: string, body: string): string => {
  const file = join(dir, name);
  const head =
    "const input = JSON.parse(require('fs').readFileSync(0, 'utf8')); const say = (v) => console.log(JSON.stringify(v));";
  writeFileSync(file, `${head}\n${body}\n`);
  return `"${process.execPath}" "${file}"`;
};
