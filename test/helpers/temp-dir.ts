import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** A fresh real folder that goes when the running test ends. */
export const tempDir = (): string => {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), "harness9-")));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
};
