import { execFileSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { shownPath } from "../../src/snapshots/byte-path.ts";
import { createObjectStore } from "../../src/snapshots/object-store.ts";
import { createSnapshotCore } from "../../src/snapshots/snapshot-core.ts";
import { loadStatCache, saveStatCache } from "../../src/snapshots/stat-cache.ts";
import { LIMITS } from "../../src/snapshots/take-snapshot.ts";
import { readTree } from "../../src/snapshots/tree.ts";
import { tempDir } from "../helpers/temp-dir.ts";
import { age, git, later, link, type Place, place, startLooking, takeNow, write } from "./core.ts";

describe("a snapshot", () => {
  it("has the same id for the same files, in every store", () => {
    const [one, other] = [place(), place()];
    for (const { workDir } of [one, other]) write(workDir, { b: "2", a: "1", "c/d": "3" });
    mkdirSync(join(one.workDir, "empty"));
    expect(one.take()).toEqual(other.take());
    expect(one.take()).toEqual({
      id: other.take().id,
      files: 3,
      leftOut: { bigFiles: [], unreadable: [], beyondLimit: 0 },
    });
  });

  it("holds files and links, and neither git's folder nor what tools fetch or make", () => {
    const here = place();
    write(here.workDir, {
      "a.txt": "1",
      ".git/HEAD": "x",
      "sub/.git": "gitdir: elsewhere",
      "node_modules/x/y.js": "x",
      "sub/.venv/x": "x",
      "sub/__pycache__/x": "x",
      "rust/Cargo.toml": "x",
      "rust/target/x": "x",
      "java/target/x": "kept",
      ".harness9/settings.json": "{}",
    });
    link("a.txt", join(here.workDir, "sub/link"));
    link("/", join(here.workDir, "sub/root"));
    execFileSync("mkfifo", [join(here.workDir, "pipe")]);
    expect(held(here)).toEqual([
      ".harness9/settings.json",
      "a.txt",
      "java/target/x",
      "rust/Cargo.toml",
      "sub/link",
      "sub/root",
    ]);
  });

  it("leaves out what git ignores, whichever file says so", () => {
    const here = place();
    git(here.workDir, "init", "--quiet");
    mkdirSync(join(here.workDir, "nested"));
    git(join(here.workDir, "nested"), "init", "--quiet");
    write(here.workDir, {
      ".git/info/exclude": "excluded\n",
      ".gitignore": "*.log\nbuild\n/only-here\n!important.log\n",
      "a.log": "x",
      "important.log": "x",
      excluded: "x",
      "only-here": "x",
      "sub/only-here": "x",
      "sub/.gitignore": "!b.log\n!build\n*.tmp\n",
      "sub/b.log": "x",
      "sub/c.log": "x",
      "sub/d.tmp": "x",
      "sub/build/x": "x",
      "build/x": "x",
      "d.tmp": "x",
      "nested/.git/info/exclude": "hidden\n",
      "nested/e.log": "x",
      "nested/hidden": "x",
    });
    const known = git(here.workDir, "ls-files", "-co", "--exclude-standard")
      .split("\n")
      .filter((path) => path && !path.endsWith("/"));
    expect(held(here).filter((path) => !path.startsWith("nested/"))).toEqual(known.sort());
    expect(held(here).filter((path) => path.startsWith("nested/"))).toEqual(["nested/e.log"]);
  });

  it("reads the rules of the repository around the work directory", () => {
    const root = tempDir();
    git(root, "init", "--quiet");
    write(root, {
      ".git/info/exclude": "excluded\n",
      ".gitignore": "*.log\n/packages/top\n",
      "packages/a.log": "x",
      "packages/excluded": "x",
      "packages/top": "x",
      "packages/sub/top": "x",
    });
    const core = openAt(join(root, "packages"), join(root, "home"));
    expect(takeNow(core).files).toBe(1);
  });

  it.each([
    ["*\n", "packages"],
    ["/packages/\n", "packages/sub"],
    ["/packages/*\n!/packages/sub/\n", "packages/other"],
  ])("a repository whose rules %j leave out %s itself says nothing about what is in it", (rules, folder) => {
    const root = tempDir();
    git(root, "init", "--quiet");
    write(root, {
      ".gitignore": rules,
      [`${folder}/.gitignore`]: "own\n",
      [`${folder}/a`]: "x",
      [`${folder}/own`]: "x",
    });
    expect(takeNow(openAt(join(root, folder), join(root, "home"))).files).toBe(2);
  });

  it("reads info/exclude of a worktree's common repository", () => {
    const here = place();
    write(here.workDir, { a: "1" });
    git(here.workDir, "init", "--quiet");
    git(here.workDir, "add", ".");
    git(here.workDir, "commit", "--quiet", "-m", "x");
    git(here.workDir, "worktree", "add", "--quiet", "../tree");
    write(here.workDir, { ".git/info/exclude": "hidden\n" });
    const worktree = join(here.workDir, "../tree");
    write(worktree, { hidden: "x", b: "x" });
    expect(takeNow(openAt(worktree, join(here.workDir, "../home"))).files).toBe(2);
  });

  it("does not look into harness9's own folder", () => {
    const root = tempDir();
    write(root, { "home/sessions/x": "1", "home/.env": "x", a: "1" });
    const core = openAt(root, join(root, "home"));
    const first = takeNow(core);
    expect([first.files, takeNow(core)]).toEqual([1, first]);
  });

  it("says what it leaves out for its size, its number or because it cannot be read", () => {
    const here = place({ maxFileBytes: 100, maxFiles: 3 });
    write(here.workDir, { a: "1", b: "1", c: "1", d: "1", e: "1", big: "x" });
    truncateSync(join(here.workDir, "big"), 3 * 1024 ** 3);
    expect(here.take().leftOut).toEqual({ bigFiles: ["big"], unreadable: [], beyondLimit: 2 });
  });

  it.skipIf(process.getuid?.() === 0)("names what may not be read", () => {
    const here = place();
    write(here.workDir, { a: "1", "sub/b": "1" });
    chmodSync(join(here.workDir, "a"), 0);
    chmodSync(join(here.workDir, "sub"), 0);
    expect(here.take().leftOut.unreadable).toEqual(["a", "sub"]);
    chmodSync(join(here.workDir, "sub"), 0o755);
  });

  it("stops after so many names, and counts what it has not looked at", () => {
    const here = place({ maxNames: 4 });
    write(here.workDir, { a: "1", b: "1", c: "1", d: "1", e: "1", f: "1" });
    const { files, leftOut } = here.take();
    expect([files, leftOut.beyondLimit]).toEqual([4, 2]);
  });

  it("is cancelled between two files and leaves nothing half written", () => {
    const here = place();
    write(here.workDir, { a: "1", b: "1", c: "1" });
    let asked = 0;
    expect(() => here.core.take(() => ++asked > 2)).toThrowError(expect.objectContaining({ failure: "cancelled" }));
    expect(readdirSync(join(here.folder, "tmp"))).toEqual([]);
    expect(here.take().files).toBe(3);
  });

  it("says that there is no work directory", () => {
    const here = place();
    rmSync(here.workDir, { recursive: true });
    expect(() => here.take()).toThrowError(expect.objectContaining({ failure: "no-folder" }));
  });

  it("is private on the disk", () => {
    const here = place();
    write(here.workDir, { a: "1" });
    here.take();
    const modes = ["", "packs", "taken", "tmp"].map((name) => statSync(join(here.folder, name)).mode & 0o777);
    const files = ["packs", "taken"].flatMap((name) =>
      readdirSync(join(here.folder, name)).map((file) => join(here.folder, name, file)),
    );
    expect([modes, files.map((file) => statSync(file).mode & 0o777)]).toEqual([
      [0o700, 0o700, 0o700, 0o700],
      [0o600, 0o600],
    ]);
  });
});

describe("the next snapshot", () => {
  it("sees a change of the same length at the same time", () => {
    const here = place();
    write(here.workDir, { a: "1" });
    const before = here.take().id;
    const { atime, mtime } = statSync(join(here.workDir, "a"));
    write(here.workDir, { a: "2" });
    utimesSync(join(here.workDir, "a"), atime, mtime);
    expect(here.take().id).not.toBe(before);
  });

  it("sees that another file has taken the name", () => {
    const here = place();
    write(here.workDir, { a: "1", b: "2" });
    for (const name of ["a", "b"]) age(join(here.workDir, name));
    const before = here.take().id;
    renameSync(join(here.workDir, "b"), join(here.workDir, "a"));
    write(here.workDir, { b: "2" });
    const after = here.take().id;
    expect(after).not.toBe(before);
    expect(here.open().take(() => false).snapshot.id).toBe(after);
  });

  it("writes nothing where nothing has changed", () => {
    const here = place();
    write(here.workDir, { a: "1", "b/c": "2" });
    const { id } = here.take();
    const packs = readdirSync(join(here.folder, "packs"));
    expect([here.take().id, takeNow(here.open()).id, readdirSync(join(here.folder, "packs"))]).toEqual([id, id, packs]);
  });

  it.each([
    ["a damaged cache", (folder: string) => writeFileSync(join(folder, "stat-cache"), "rubbish")],
    ["a torn cache", (folder: string) => tear(join(folder, "stat-cache"))],
    ["a torn pack", (folder: string) => tear(join(folder, "packs", readdirSync(join(folder, "packs"))[0] ?? ""))],
    ["lost packs", (folder: string) => rmSync(join(folder, "packs"), { recursive: true })],
    ["a temporary file of a killed process", (folder: string) => writeFileSync(join(folder, "tmp", "1-x-1"), "half")],
  ])("is whole in spite of %s", async (_, harm) => {
    const here = place({}, later);
    write(here.workDir, { a: "1", "b/c": "2" });
    const { id } = here.take();
    harm(here.folder);
    for (const core of [here.open(), here.core]) {
      expect(takeNow(core).id).toBe(id);
      write(here.workDir, { a: "longer" });
      const step = { before: id, after: takeNow(core).id };
      await core.apply(await core.plan([step]));
      expect(readFileSync(join(here.workDir, "a"), "utf8")).toBe("1");
    }
  });

  it("reads only what has changed, in this process and in the next", () => {
    const here = place({}, later);
    write(here.workDir, { a: "1", "b/c": "2", "b/é": "3" });
    const { id } = here.take();
    const store = createObjectStore(here.folder);
    const cached = loadStatCache(store)?.cache ?? new Map();
    expect([...cached].map(([folder, files]) => [folder, [...files.keys()].map(shownPath)])).toEqual([
      ["", ["a"]],
      ["b", ["c", "é"]],
    ]);
    // What the cache vouches for is not read again: a wrong hash in it would stay.
    const wrong = store.put(Buffer.from("wrong"));
    store.flush();
    const [file] = cached.get("")?.values() ?? [];
    if (file) cached.get("")?.set("a", { ...file, hash: wrong });
    saveStatCache(store, cached);
    expect(takeNow(here.open()).id).not.toBe(id);
    expect(here.take().id).toBe(id);
  });

  it("may be taken by another process at once", () => {
    const here = place();
    const other = here.open();
    for (let round = 0; round < 4; round += 1) {
      write(here.workDir, { a: String(round), [`new${round}`]: "x" });
      expect(takeNow(round % 2 === 0 ? here.core : other)).toEqual(takeNow(round % 2 === 0 ? other : here.core));
    }
  });
});

const tear = (path: string): void => truncateSync(path, statSync(path).size - 3);

const openAt = (workDir: string, harnessHome: string) =>
  createSnapshotCore({
    ...{ workDir, harnessHome, folder: join(harnessHome, "snapshots") },
    ...{ limits: LIMITS, now: Date.now, startLooking },
  });

/** The paths in a snapshot of now. */
const held = (here: Place): string[] => {
  const store = createObjectStore(here.folder);
  const list = (hash: string, folder: string): string[] =>
    [...readTree(store, hash).entries].flatMap(([name, entry]) => {
      if (entry.type === "folder") return list(entry.hash, `${folder}${name}/`);
      return entry.type === "out" ? [] : [`${folder}${name}`];
    });
  return list(here.take().id, "").sort();
};
