import { chmodSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Restored, Step } from "../../src/snapshots/snapshots.ts";
import { executable, link, listing, type Place, place, write } from "./core.ts";

type Case = {
  readonly name: string;
  readonly before: (workDir: string) => void;
  readonly step: (workDir: string) => void;
};

const CASES: readonly Case[] = [
  {
    name: "a changed, an added and a removed file",
    before: (dir) => write(dir, { a: "1", "sub/b": "2" }),
    step: (dir) => {
      write(dir, { a: "one", "new/deep/c": "3" });
      rmSync(join(dir, "sub"), { recursive: true });
    },
  },
  {
    name: "a renamed file",
    before: (dir) => write(dir, { a: "1" }),
    step: (dir) => renameSync(join(dir, "a"), join(dir, "b")),
  },
  {
    name: "a name that differs by case only",
    before: (dir) => write(dir, { "Readme.md": "1" }),
    step: (dir) => renameSync(join(dir, "Readme.md"), join(dir, "README.md")),
  },
  {
    name: "a file that became a folder",
    before: (dir) => write(dir, { a: "1" }),
    step: (dir) => {
      rmSync(join(dir, "a"));
      write(dir, { "a/b/c": "2", "a/d": "3" });
    },
  },
  {
    name: "a folder that became a file",
    before: (dir) => write(dir, { "a/b/c": "2", "a/d": "3" }),
    step: (dir) => {
      rmSync(join(dir, "a"), { recursive: true });
      write(dir, { a: "1" });
    },
  },
  {
    name: "a file that became a link, and a link that became a file",
    before: (dir) => {
      write(dir, { a: "1" });
      link("a", join(dir, "b"));
    },
    step: (dir) => {
      rmSync(join(dir, "a"));
      rmSync(join(dir, "b"));
      link("/nowhere", join(dir, "a"));
      write(dir, { b: "2" });
    },
  },
  {
    name: "a folder that became a link to a folder outside",
    before: (dir) => write(dir, { "a/b": "1" }),
    step: (dir) => {
      rmSync(join(dir, "a"), { recursive: true });
      mkdirSync(join(dir, "../outside"));
      write(join(dir, "../outside"), { b: "theirs" });
      link("../outside", join(dir, "a"));
    },
  },
  {
    name: "a link that became a folder",
    before: (dir) => link("nowhere", join(dir, "a")),
    step: (dir) => {
      rmSync(join(dir, "a"));
      write(dir, { "a/b": "1" });
    },
  },
  {
    name: "executable bits",
    before: (dir) => {
      write(dir, { a: "1", b: "2" });
      executable(join(dir, "a"));
    },
    step: (dir) => {
      chmodSync(join(dir, "a"), 0o644);
      executable(join(dir, "b"));
    },
  },
  {
    name: "the mode of a private file that was removed",
    before: (dir) => {
      write(dir, { key: "1" });
      chmodSync(join(dir, "key"), 0o600);
    },
    step: (dir) => rmSync(join(dir, "key")),
  },
  {
    name: "names that are properties of objects",
    before: (dir) => write(dir, { __proto__x: "0", constructor: "1" }),
    step: (dir) => write(dir, { ["__proto__"]: "2", constructor: "3", "toString/__proto__": "4" }),
  },
  {
    name: "names that are not UTF-8, and one with a newline",
    before: (dir) => writeFileSync(Buffer.concat([Buffer.from(`${dir}/`), Buffer.of(0xff, 0x41)]), "1"),
    step: (dir) => {
      rmSync(Buffer.concat([Buffer.from(`${dir}/`), Buffer.of(0xff, 0x41)]));
      mkdirSync(Buffer.concat([Buffer.from(`${dir}/`), Buffer.of(0xfe)]));
      writeFileSync(Buffer.concat([Buffer.from(`${dir}/`), Buffer.of(0xfe), Buffer.from("/é\n")]), "2");
    },
  },
];

describe("going back to before a step", () => {
  it.each(CASES)("brings back $name, and undo takes that back", async ({ before, step }) => {
    const here = place();
    before(here.workDir);
    const then = listing(here.workDir);
    const steps = [stepOf(here, () => step(here.workDir))];
    const now = listing(here.workDir);

    const restored = await restore(here, steps);
    expect([restored.kept, listing(here.workDir)]).toEqual([[], then]);
    expect((await here.core.plan(steps)).actions).toEqual([]);

    const undone = await here.core.apply(structuredClone(restored.undo));
    expect([undone.kept, listing(here.workDir)]).toEqual([[], now]);
    const redone = await here.core.apply(JSON.parse(JSON.stringify(undone.undo)));
    expect([redone.kept, listing(here.workDir)]).toEqual([[], then]);
  });

  it("says what it would do", async () => {
    const here = place();
    write(here.workDir, { a: "1\n2\n", b: "x\n", c: "y\0" });
    const steps = [
      stepOf(here, () => {
        write(here.workDir, { a: "1\n3\n4\n", d: "new\n", c: "z\0" });
        rmSync(join(here.workDir, "b"));
      }),
    ];
    const { changes, conflicts } = await here.core.plan(steps);
    expect([changes, conflicts]).toEqual([
      [
        { path: "a", kind: "changed", lines: { added: 1, removed: 2 } },
        { path: "b", kind: "added", lines: { added: 1, removed: 0 } },
        { path: "c", kind: "changed", lines: null },
        { path: "d", kind: "removed", lines: { added: 0, removed: 1 } },
      ],
      [],
    ]);
    expect(await here.core.changes(steps)).toEqual([
      { path: "a", kind: "changed", lines: { added: 2, removed: 1 } },
      { path: "b", kind: "removed", lines: { added: 0, removed: 1 } },
      { path: "c", kind: "changed", lines: null },
      { path: "d", kind: "added", lines: { added: 1, removed: 0 } },
    ]);
  });

  it("goes back over several steps, and leaves what others have changed since", async () => {
    const here = place();
    write(here.workDir, { a: "1", b: "1", c: "1", theirs: "1" });
    const first = stepOf(here, () => write(here.workDir, { a: "2", b: "2", c: "2" }));
    write(here.workDir, { c: "outsider", theirs: "2" });
    const second = stepOf(here, () => write(here.workDir, { a: "3", c: "3", d: "3" }));
    write(here.workDir, { b: "outsider" });

    const plan = await here.core.plan([first, second]);
    expect(plan.conflicts.map(({ path, kind }) => [path, kind])).toEqual([
      ["b", "changed"],
      ["c", "changed"],
    ]);
    const { restored, kept } = await here.core.apply(plan);
    expect([restored, kept, listing(here.workDir)]).toEqual([
      ["a", "d"],
      [],
      { a: "644 1", b: "644 outsider", c: "644 3", theirs: "644 2" },
    ]);
  });

  it("looks at each file again before it replaces it", async () => {
    const here = place();
    write(here.workDir, { a: "1", b: "1", "d/x": "1" });
    const steps = [
      stepOf(here, () => {
        write(here.workDir, { a: "2", b: "2", "d/x": "2", new: "2" });
      }),
    ];
    const plan = await here.core.plan(steps);
    write(here.workDir, { a: "outsider", new: "outsider" });
    rmSync(join(here.workDir, "d"), { recursive: true });
    mkdirSync(join(here.workDir, "../outside"));
    write(join(here.workDir, "../outside"), { x: "2" });
    link("../outside", join(here.workDir, "d"));
    const { restored, kept, undo } = await here.core.apply(plan);
    expect([restored, kept, undo.changes.map(({ path }) => path)]).toEqual([
      ["b"],
      [
        { path: "a", reason: { type: "changed" } },
        { path: "d/x", reason: { type: "blocked" } },
        { path: "new", reason: { type: "changed" } },
      ],
      ["b"],
    ]);
    expect(listing(join(here.workDir, "../outside"))).toEqual({ x: "644 2" });
  });

  it("does not put a file where a folder has something of others in it", async () => {
    const here = place();
    write(here.workDir, { a: "1" });
    const steps = [
      stepOf(here, () => {
        rmSync(join(here.workDir, "a"));
        write(here.workDir, { "a/b": "2" });
      }),
    ];
    write(here.workDir, { "a/theirs": "3" });
    const plan = await here.core.plan(steps);
    expect(plan.conflicts.map(({ path }) => path)).toEqual(["a"]);
    await here.core.apply(plan);
    expect(listing(here.workDir)).toEqual({ "a/": "folder", "a/theirs": "644 3" });
  });

  it("puts a file back where folders without files are, which nobody keeps", async () => {
    const here = place();
    write(here.workDir, { a: "1", "b/c": "2" });
    const then = listing(here.workDir);
    const steps = [
      stepOf(here, () => {
        rmSync(join(here.workDir, "a"));
        mkdirSync(join(here.workDir, "a/empty"), { recursive: true });
        rmSync(join(here.workDir, "b"), { recursive: true });
      }),
    ];
    const { kept, undo } = await restore(here, steps);
    expect([kept, listing(here.workDir)]).toEqual([[], then]);
    expect((await here.core.apply(undo)).kept).toEqual([]);
    expect(listing(here.workDir)).toEqual({});
  });

  it("never removes what was there but left out before, and never overwrites what is left out now", async () => {
    const here = place();
    write(here.workDir, { ".gitignore": ".env\nout/\n", ".env": "secret", "out/x": "1", log: "1" });
    const steps = [
      stepOf(here, () => {
        write(here.workDir, { ".gitignore": "log\n", log: "2", node_modules: "a file" });
      }),
    ];
    const plan = await here.core.plan(steps);
    expect([plan.changes.map(({ path }) => path), plan.conflicts.map(({ path }) => path)]).toEqual([
      [".gitignore", "node_modules"],
      ["log"],
    ]);
    await here.core.apply(plan);
    expect(listing(here.workDir)).toEqual({
      ".gitignore": "644 .env\nout/\n",
      ".env": "644 secret",
      "out/": "folder",
      "out/x": "644 1",
      log: "644 2",
    });
  });

  it("does not take what came in under the limits for something new", async () => {
    const here = place({ maxFiles: 2, maxFileBytes: 10 });
    write(here.workDir, { a: "1", b: "1", c: "kept", big: "12345678901", grows: "1" });
    const steps = [
      stepOf(here, () => {
        rmSync(join(here.workDir, "a"));
        write(here.workDir, { big: "small" });
      }),
    ];
    const plan = await here.core.plan(steps);
    expect(plan.changes.map(({ path, kind }) => [path, kind])).toEqual([["a", "added"]]);
    await here.core.apply(plan);
    expect(listing(here.workDir)).toEqual({
      a: "644 1",
      b: "644 1",
      big: "644 small",
      c: "644 kept",
      grows: "644 1",
    });
  });

  it.each([["../evil"], [".git/config"], ["a/.GIT/x"], ["/etc/x"], ["a/../../x"], [""]])(
    "refuses a plan for %j",
    async (path) => {
      const here = place();
      const action = { path, from: { type: "none" }, to: { type: "link", target: "x" } };
      await expect(here.core.apply({ changes: [], conflicts: [], actions: [action] })).rejects.toMatchObject({
        failure: "damaged",
      });
      expect(listing(here.workDir)).toEqual({});
    },
  );

  it("reports what it could not put back and goes on", async () => {
    const here = place();
    write(here.workDir, { a: "1", b: "1" });
    const steps = [stepOf(here, () => write(here.workDir, { a: "2", b: "2" }))];
    const plan = await here.core.plan(steps);
    rmSync(join(here.folder, "packs"), { recursive: true });
    const { restored, kept } = await here.core.apply(plan);
    expect([restored, kept.map(({ reason }) => reason.type), listing(here.workDir)]).toEqual([
      [],
      ["missing", "missing"],
      { a: "644 2", b: "644 2" },
    ]);
  });
});

describe("a diff of steps", () => {
  it("keeps what eyes can take in, and the figures of all", async () => {
    const here = place();
    const text = "0123456789abcde\n".repeat(60_000);
    const steps = [stepOf(here, () => write(here.workDir, { a: text, b: text, c: text, d: text, e: "1\n" }))];
    const files = await here.core.diff(steps);
    expect(files.map(({ diff }) => diff.length > 0)).toEqual([true, true, true, false, true]);
    expect(files.map(({ change }) => change.lines?.added)).toEqual([60_000, 60_000, 60_000, 60_000, 1]);
  });

  it("counts the lines of as many files as it has time for", async () => {
    let now = 0;
    const here = place({}, () => {
      now += 1000;
      return now;
    });
    const steps = [stepOf(here, () => write(here.workDir, { a: "1\n", b: "1\n", c: "1\n", d: "1\n", e: "1\n" }))];
    const lines = (await here.core.changes(steps)).map((change) => change.lines?.added ?? null);
    expect(lines).toEqual([1, 1, 1, null, null]);
  });

  it("is unified, by file, with git's words for modes and bytes", async () => {
    const here = place();
    write(here.workDir, { a: "1\n2\n", bin: "\0", x: "1" });
    const steps = [
      stepOf(here, () => {
        write(here.workDir, { a: "1\n3\n", bin: "\0\0", new: "n" });
        executable(join(here.workDir, "x"));
        link("a", join(here.workDir, "l"));
      }),
    ];
    expect((await here.core.diff(steps)).map(({ diff }) => diff)).toEqual([
      "--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n 1\n-2\n+3",
      "Binary files a/bin and b/bin differ",
      "new file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1,1 @@\n+a\n\\ No newline at end of file",
      "new file mode 100644\n--- /dev/null\n+++ b/new\n@@ -0,0 +1,1 @@\n+n\n\\ No newline at end of file",
      "old mode 100644\nnew mode 100755",
    ]);
  });
});

const stepOf = (here: Place, act: () => void): Step => {
  const before = here.take().id;
  act();
  return { before, after: here.take().id };
};

const restore = async (here: Place, steps: readonly Step[]): Promise<Pick<Restored, "undo"> & { kept: unknown }> =>
  here.core.apply(structuredClone(await here.core.plan(steps)));
