import { lstatSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { expect, it } from "vitest";
import { zh } from "../../../src/text/zh.ts";
import { atomicWrite, writeInPlace } from "../../../src/tools/workspace/atomic-write.ts";
import { tempDir } from "../../helpers/temp-dir.ts";

const named = (real: string) => ({ real, shown: real });

it("a file is replaced by another one with its mode", async () => {
  const path = join(tempDir(), "f");
  writeFileSync(path, "old", { mode: 0o640 });
  const existing = lstatSync(path);
  await atomicWrite({ path: named(path), bytes: Buffer.from("new"), existing, strings: zh.files });
  expect([readFileSync(path, "utf8"), statSync(path).mode & 0o777]).toEqual(["new", existing.mode & 0o777]);
  expect(statSync(path).ino).not.toBe(existing.ino);
});

it("a rename that fails leaves no temporary file", async () => {
  const dir = tempDir();
  mkdirSync(join(dir, "folder"));
  const write = atomicWrite({
    path: named(join(dir, "folder")),
    bytes: Buffer.from("x"),
    existing: null,
    strings: zh.files,
  });
  await expect(write).rejects.toThrow();
  expect(readdirSync(dir)).toEqual(["folder"]);
});

it("a cancel before the rename leaves the old file and no temporary one", async () => {
  const path = join(tempDir(), "f");
  writeFileSync(path, "old");
  const signal = AbortSignal.abort(new Error("stop"));
  const bytes = Buffer.from("new");
  const write = atomicWrite({ path: named(path), bytes, existing: lstatSync(path), strings: zh.files, signal });
  await expect(write).rejects.toThrow("stop");
  expect([readFileSync(path, "utf8"), readdirSync(join(path, ".."))]).toEqual(["old", ["f"]]);
});

it.each(["", "short", "longer than it was before"])("in place, %j is written over the old content", async (content) => {
  const path = join(tempDir(), "f");
  writeFileSync(path, "what was there");
  const { ino } = statSync(path);
  await writeInPlace(named(path), Buffer.from(content), zh.files);
  expect([readFileSync(path, "utf8"), statSync(path).ino, readdirSync(join(path, ".."))]).toEqual([
    content,
    ino,
    ["f"],
  ]);
});

it("in place, a link that was put there meanwhile is not followed", async () => {
  const dir = tempDir();
  writeFileSync(join(dir, "victim"), "victim");
  symlinkSync("victim", join(dir, "f"));
  await expect(writeInPlace(named(join(dir, "f")), Buffer.from("x"), zh.files)).rejects.toThrow();
  expect(readFileSync(join(dir, "victim"), "utf8")).toBe("victim");
});

it("a relative path and a folder behind a link are the caller's own affair", async () => {
  const [dir, other] = [tempDir(), tempDir()];
  symlinkSync(other, join(dir, "sub"));
  const path = named(relative(process.cwd(), join(dir, "sub", "f")));
  await atomicWrite({ path, bytes: Buffer.from("new"), existing: null, strings: zh.files });
  expect([readdirSync(other), readFileSync(join(other, "f"), "utf8")]).toEqual([["f"], "new"]);
});

it("a folder that has become a link since the path was checked is not written through", async () => {
  const [dir, outside] = [tempDir(), tempDir()];
  writeFileSync(join(outside, "f"), "victim");
  symlinkSync(outside, join(dir, "sub"));
  const path = named(join(dir, "sub", "f"));
  const bytes = Buffer.from("new");
  for (const existing of [null, lstatSync(path.real)])
    await expect(atomicWrite({ path, bytes, existing, strings: zh.files, isChecked: true })).rejects.toMatchObject({
      kind: "outside",
    });
  await expect(writeInPlace(path, bytes, zh.files)).rejects.toMatchObject({ kind: "outside" });
  expect([readdirSync(outside), readFileSync(join(outside, "f"), "utf8")]).toEqual([["f"], "victim"]);
});
