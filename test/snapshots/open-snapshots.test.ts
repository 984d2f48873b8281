import { execFile } from "node:child_process";
import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it, onTestFinished } from "vitest";
import { collectSnapshots, type OpenSnapshotsOptions, openSnapshots } from "../../src/snapshots/open-snapshots.ts";
import type { Snapshots } from "../../src/snapshots/snapshots.ts";
import { en } from "../../src/text/en.ts";
import { UserError } from "../../src/text/user-error.ts";
import { bundleSource } from "../helpers/bundle-source.ts";
import { tempDir } from "../helpers/temp-dir.ts";
import { listing, write } from "./core.ts";

// With the worker of dist/, which `npm test` builds first.

describe("snapshots in a worker", () => {
  it("are taken, compared, restored and collected", async () => {
    const { options, snapshots } = open();
    write(options.workDir, { a: "1\n", "b/c": "2\n" });
    const before = await snapshots.take();
    write(options.workDir, { a: "one\n", d: "3\n" });
    const after = await snapshots.take(new AbortController().signal);
    expect([before.files, after.files, after.leftOut]).toEqual([
      2,
      3,
      { bigFiles: [], unreadable: [], beyondLimit: 0 },
    ]);
    const steps = [{ before: before.id, after: after.id }];
    expect((await snapshots.changes(steps)).map(({ path, kind }) => [path, kind])).toEqual([
      ["a", "changed"],
      ["d", "added"],
    ]);
    expect((await snapshots.diff(steps))[0]?.diff).toBe("--- a/a\n+++ b/a\n@@ -1,1 +1,1 @@\n-1\n+one");
    const plan = await snapshots.plan(steps);
    write(options.workDir, { d: "theirs\n" });
    const { restored, kept, undo } = await snapshots.apply(plan);
    expect([restored, kept]).toEqual([["a"], [{ path: "d", reason: en.rewind.storeKeptChanged }]]);
    expect(listing(options.workDir)).toEqual({ a: "644 1\n", "b/": "folder", "b/c": "644 2\n", d: "644 theirs\n" });
    expect((await snapshots.apply(undo)).restored).toEqual(["a"]);
    expect((await collectSnapshots(options, [before.id])).removedBytes).toBe(0);
  });

  it("tell what a person can mend", async () => {
    const { options, snapshots } = open();
    const step = { before: "0".repeat(64), after: "1".repeat(64) };
    await expect(snapshots.plan([step])).rejects.toEqual(new UserError(en.rewind.storeMissing, { exitCode: 1 }));
    rmSync(options.workDir, { recursive: true });
    await expect(snapshots.take()).rejects.toMatchObject({
      name: "UserError",
      message: expect.stringContaining(options.workDir),
    });
    write(options.workDir, { a: "1" });
    writeFileSync(options.harnessHome, "a file where the folder should be");
    await expect(snapshots.take()).rejects.toMatchObject({
      name: "UserError",
      message: expect.stringContaining(options.folder),
    });
    expect(listing(options.workDir)).toEqual({ a: "644 1" });
  });

  it("are cancelled by their signal", async () => {
    const { options, snapshots } = open();
    for (let index = 0; index < 300; index += 1) write(options.workDir, { [`f${index}`]: "x" });
    await expect(snapshots.take(AbortSignal.abort("early"))).rejects.toBe("early");
    const controller = new AbortController();
    const taking = snapshots.take(controller.signal);
    controller.abort(new Error("stop"));
    await expect(taking).rejects.toThrow("stop");
    expect((await snapshots.take()).files).toBe(300);
  });

  it("reject what waits when the worker ends, and the next call starts another", async () => {
    const root = tempDir();
    const counter = join(root, "started");
    const dying = join(root, "dying.mjs");
    writeFileSync(
      dying,
      `import { appendFileSync } from "node:fs"; import { parentPort } from "node:worker_threads";
       appendFileSync(${JSON.stringify(counter)}, "x"); parentPort.on("message", () => process.exit(3));`,
    );
    const { options, snapshots } = open({ worker: pathToFileURL(dying) });
    write(options.workDir, { a: "1" });
    const ended = en.rewind.storeWorkerEnded("exit 3");
    await expect(Promise.allSettled([snapshots.take(), snapshots.changes([])])).resolves.toMatchObject([
      { reason: { message: ended } },
      { reason: { message: ended } },
    ]);
    await expect(snapshots.take()).rejects.toThrow(ended);
    expect(readdirSync(root)).toContain("started");
    const missing = open({ worker: pathToFileURL(join(root, "nowhere.mjs")) });
    await expect(missing.snapshots.take()).rejects.toBeInstanceOf(UserError);
  });

  it("reject what waits when they are closed, and everything after that", async () => {
    const { options, snapshots } = open();
    write(options.workDir, { a: "1" });
    const taking = snapshots.take();
    const closing = snapshots.close();
    await expect(taking).rejects.toThrow(en.rewind.storeClosed);
    await closing;
    await expect(snapshots.take()).rejects.toThrow(en.rewind.storeClosed);
    await snapshots.close();
  });

  it("hold the process only while something is asked of them", async () => {
    const root = tempDir();
    const program = await bundleSource(`
      import { openSnapshots } from "./src/snapshots/open-snapshots.ts";
      const [workDir, harnessHome, worker] = process.argv.slice(2);
      const snapshots = openSnapshots({ workDir, harnessHome, folder: harnessHome + "/s", strings: {}, worker: new URL(worker) });
      console.log((await snapshots.take()).files);`);
    write(join(root, "work"), { a: "1", b: "2" });
    const worker = pathToFileURL(join(process.cwd(), "dist", "snapshot-worker.js")).href;
    const { stdout } = await promisify(execFile)(process.execPath, [
      program,
      join(root, "work"),
      join(root, "home"),
      worker,
    ]);
    expect(stdout).toBe("2\n");
  });
});

const open = (own: Partial<OpenSnapshotsOptions> = {}): { options: OpenSnapshotsOptions; snapshots: Snapshots } => {
  const root = tempDir();
  const harnessHome = join(root, "home");
  const options = {
    workDir: join(root, "work"),
    folder: join(harnessHome, "snapshots"),
    harnessHome,
    strings: en.rewind,
    ...own,
  };
  write(root, { "work/.keep": "" });
  rmSync(join(root, "work", ".keep"));
  const snapshots = openSnapshots(options);
  onTestFinished(() => snapshots.close());
  return { options, snapshots };
};
