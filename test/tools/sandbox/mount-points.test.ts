import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createMountPoints } from "../../../src/tools/sandbox/mount-points.ts";
import { tempDir } from "../../helpers/temp-dir.ts";

test("what is missing is there while somebody needs it, and gone with the last one, its parents too", () => {
  const dir = tempDir();
  const paths = [join(dir, "a/b/c"), join(dir, "d")];
  const points = createMountPoints();
  const first = points.hold(paths);
  const second = points.hold(paths);
  first();
  first();
  expect(paths.map((path) => existsSync(path))).toEqual([true, true]);
  second();
  expect(readdirSync(dir)).toEqual([]);
});

test("what was there stays, and so does what somebody has put there meanwhile", () => {
  const dir = tempDir();
  mkdirSync(join(dir, "own"));
  writeFileSync(join(dir, "file"), "");
  const points = createMountPoints();
  const release = points.hold([join(dir, "own"), join(dir, "file"), join(dir, "file/below"), join(dir, "new/deep")]);
  writeFileSync(join(dir, "new/settings"), "theirs");
  release();
  expect(readdirSync(dir).sort()).toEqual(["file", "new", "own"]);
  expect(readdirSync(join(dir, "new"))).toEqual(["settings"]);
});

test("closing takes away what was not given back, and a late release does no harm", () => {
  const dir = tempDir();
  const points = createMountPoints();
  const release = points.hold([join(dir, "x/y")]);
  points.close();
  expect(readdirSync(dir)).toEqual([]);
  mkdirSync(join(dir, "x"));
  release();
  expect(readdirSync(dir)).toEqual(["x"]);
});
