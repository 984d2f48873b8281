import { createHash } from "node:crypto";
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  ensurePrivateDir,
  harnessPaths,
  isSessionId,
  newSessionId,
  sessionFiles,
  writePrivateFile,
} from "../../src/config/paths.ts";
import { tempDir } from "../helpers/temp-dir.ts";

const mode = (path: string): string => (statSync(path).mode & 0o777).toString(8);
const hash = (path: string): string => createHash("sha256").update(path).digest("hex").slice(0, 8);

describe("harnessPaths", () => {
  test("puts everything under ~/.harness9 and the project's name into sessions and snapshots", () => {
    const dir = tempDir();
    const workDir = join(dir, "My Shop (v2)");
    mkdirSync(workDir);
    const project = `my-shop-v2-${hash(workDir)}`;
    const home = join(dir, ".harness9");
    expect(harnessPaths({ env: {}, homeDir: dir, workDir })).toEqual({
      home,
      config: join(home, "config.json"),
      dotenv: join(home, ".env"),
      instructions: join(home, "AGENTS.md"),
      trust: join(home, "trust.json"),
      history: join(home, "history.jsonl"),
      sandboxTrial: join(home, "sandbox-trial"),
      skills: join(home, "skills"),
      agents: join(home, "agents"),
      memory: join(home, "memory"),
      project,
      sessions: join(home, "sessions", project),
      snapshots: join(home, "snapshots", project),
      projectHome: join(workDir, ".harness9"),
      projectSettings: join(workDir, ".harness9", "settings.json"),
      projectLocalSettings: join(workDir, ".harness9", "settings.local.json"),
      projectDotenv: join(workDir, ".env"),
    });
  });

  test("HARNESS9_HOME moves it; an empty one counts as unset", () => {
    const dir = tempDir();
    expect(harnessPaths({ env: { HARNESS9_HOME: "/x/h9" }, homeDir: dir, workDir: dir }).config).toBe(
      "/x/h9/config.json",
    );
    expect(harnessPaths({ env: { HARNESS9_HOME: "" }, homeDir: dir, workDir: dir }).home).toBe(join(dir, ".harness9"));
  });

  test("a folder has one name however it is reached", () => {
    const dir = tempDir();
    mkdirSync(join(dir, "real"));
    symlinkSync(join(dir, "real"), join(dir, "link"));
    const project = (workDir: string) => harnessPaths({ env: {}, homeDir: dir, workDir }).project;
    expect(project(join(dir, "link"))).toBe(project(join(dir, "real")));
    expect(project(join(dir, "real"))).toBe(`real-${hash(join(dir, "real"))}`);
  });

  test.each([
    ["项目", "项目"],
    ["...", "project"],
    ["a b\nc", "a-b-c"],
    ["x".repeat(80), "x".repeat(40)],
  ])("the slug of %j is a file name", (name, slug) => {
    const workDir = join(tempDir(), name);
    expect(harnessPaths({ env: {}, homeDir: "/h", workDir }).project).toBe(`${slug}-${hash(workDir)}`);
  });
});

describe("session ids", () => {
  test("say when the session began, in local time", () => {
    const date = new Date(2026, 3, 9, 5, 7, 3);
    expect(newSessionId(date, () => 0)).toBe("20260409-050703-0000");
    expect(newSessionId(date, () => 0.999)).toBe("20260409-050703-zzzz");
  });

  test("lead to the session's files", () => {
    const paths = harnessPaths({ env: {}, homeDir: "/h", workDir: tempDir() });
    const id = newSessionId(new Date(), Math.random);
    expect(isSessionId(id)).toBe(true);
    expect(sessionFiles(paths, id)).toEqual({
      journal: join(paths.sessions, `${id}.jsonl`),
      log: join(paths.sessions, `${id}.log`),
      outputs: join(paths.sessions, `${id}.outputs`),
    });
  });

  test.each(["../../x", "20260409-050703-0000/..", "", "20260409-050703-0000\n", "20260409-050703-000"])(
    "%j is none and leads nowhere",
    (id) => {
      const paths = harnessPaths({ env: {}, homeDir: "/h", workDir: "/w" });
      expect(isSessionId(id)).toBe(false);
      expect(() => sessionFiles(paths, id)).toThrow(RangeError);
    },
  );
});

describe("private files", () => {
  test("folders are 0700, also when they existed wider", async () => {
    const dir = join(tempDir(), "a", "b");
    await ensurePrivateDir(dir);
    expect([mode(dir), mode(join(dir, ".."))]).toEqual(["700", "700"]);
    chmodSync(dir, 0o755);
    await ensurePrivateDir(dir);
    expect(mode(dir)).toBe("700");
  });

  test("files are 0600, also when they existed wider, and nothing else is left behind", async () => {
    const dir = tempDir();
    const file = join(dir, "config.json");
    writeFileSync(file, "old");
    chmodSync(file, 0o644);
    await writePrivateFile(file, "新");
    expect([mode(file), readFileSync(file, "utf8"), readdirSync(dir)]).toEqual(["600", "新", ["config.json"]]);
  });

  test("a symlink is written through and stays a symlink", async () => {
    const dir = tempDir();
    writeFileSync(join(dir, "dotfiles"), "old");
    symlinkSync(join(dir, "dotfiles"), join(dir, ".env"));
    await writePrivateFile(join(dir, ".env"), "new");
    expect(lstatSync(join(dir, ".env")).isSymbolicLink()).toBe(true);
    expect([readFileSync(join(dir, "dotfiles"), "utf8"), mode(join(dir, "dotfiles"))]).toEqual(["new", "600"]);
  });

  test("a write that fails leaves no temporary file", async () => {
    const dir = tempDir();
    mkdirSync(join(dir, "taken"));
    await expect(writePrivateFile(join(dir, "taken"), "x")).rejects.toThrow();
    expect(readdirSync(dir)).toEqual(["taken"]);
  });
});
