import { execFileSync } from "node:child_process";
import { lstatSync, mkdirSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readWhole } from "../../src/snapshots/read-file.ts";
import { cachedFile, isUnchanged } from "../../src/snapshots/stat-cache.ts";
import { tempDir } from "../helpers/temp-dir.ts";
import { link } from "./core.ts";

describe("reading a file whole", () => {
  it("gives the bytes of a file and the reason for everything else, without waiting or following", () => {
    const dir = tempDir();
    writeFileSync(join(dir, "file"), "text");
    writeFileSync(join(dir, "empty"), "");
    writeFileSync(join(dir, "big"), "");
    truncateSync(join(dir, "big"), 3 * 1024 ** 3);
    mkdirSync(join(dir, "folder"));
    execFileSync("mkfifo", [join(dir, "pipe")]);
    link("file", join(dir, "link"));
    const types = ["file", "empty", "big", "folder", "pipe", "link", "gone", "file/below"].map((name) => {
      const read = readWhole(join(dir, name), 1000);
      return [name, read.type === "read" ? read.bytes.toString() : read.type];
    });
    expect(Object.fromEntries(types)).toEqual({
      file: "text",
      empty: "",
      big: "big",
      folder: "not-a-file",
      pipe: "not-a-file",
      link: "not-a-file",
      gone: "gone",
      "file/below": "gone",
    });
  });
});

describe("the stat cache", () => {
  it("vouches only for a file that was still for some time before it was read", () => {
    const path = join(tempDir(), "file");
    writeFileSync(path, "text");
    const stats = lstatSync(path);
    const hash = "0".repeat(64);
    expect([0, 1999, -60_000].map((delay) => cachedFile(stats, hash, stats.ctimeMs + delay))).toEqual([
      null,
      null,
      null,
    ]);
    const cached = cachedFile(stats, hash, stats.ctimeMs + 2001);
    expect(cached && isUnchanged(cached, stats)).toBe(true);
    for (const changed of [{ size: 5 }, { mtimeMs: 1 }, { ctimeMs: 1 }, { ino: 1 }])
      expect(cached && isUnchanged(cached, Object.assign(lstatSync(path), changed))).toBe(false);
  });
});
