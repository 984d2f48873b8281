import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { findProgram } from "../../../src/tools/sandbox/find-program.ts";
import { tempDir } from "../../helpers/temp-dir.ts";

test("the first one on the PATH that can be run, none that a command could have put there", () => {
  const dir = tempDir();
  const make = (folder: string, mode: number): string => {
    mkdirSync(join(dir, folder));
    writeFileSync(join(dir, folder, "tool"), "#!/bin/sh\n", { mode });
    return join(dir, folder);
  };
  const [plain, project, system] = [make("plain", 0o644), make("project", 0o755), make("system", 0o755)];
  const linked = join(dir, "linked");
  mkdirSync(linked);
  symlinkSync(join(project, "tool"), join(linked, "tool"));
  mkdirSync(join(dir, "folder/tool"), { recursive: true });
  const path = [plain, "", ".", join(dir, "folder"), join(dir, "absent"), linked, project, system].join(":");
  expect(findProgram("tool", path)).toBe(join(linked, "tool"));
  expect(findProgram("tool", path, [project])).toBe(join(system, "tool"));
  expect(findProgram("tool", path, [dir])).toBeUndefined();
  expect(findProgram("tool", "")).toBeUndefined();
});
