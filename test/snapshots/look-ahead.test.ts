import { chmodSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { createLooker } from "../../src/snapshots/look-ahead.ts";
import { openSnapshots } from "../../src/snapshots/open-snapshots.ts";
import { createSnapshotCore, type SnapshotCore } from "../../src/snapshots/snapshot-core.ts";
import { LIMITS } from "../../src/snapshots/take-snapshot.ts";
import { en } from "../../src/text/en.ts";
import { tempDir } from "../helpers/temp-dir.ts";
import { age, later, link, startLooking, takeNow } from "./core.ts";

const FOLDERS = 51;
const FILES_A_FOLDER = 100;

/** A work directory that is big enough for a second thread. */
const bigPlace = () => {
  const root = tempDir();
  const workDir = join(root, "work");
  for (let folder = 0; folder < FOLDERS; folder += 1) {
    mkdirSync(join(workDir, `${folder}`, "deep"), { recursive: true });
    for (let file = 0; file < FILES_A_FOLDER; file += 1) {
      const path = join(workDir, `${folder}`, file % 2 === 0 ? "deep" : "", `${file}`);
      writeFileSync(path, `${folder} ${file}`);
      age(path);
    }
  }
  return { root, workDir };
};

/** Everything that can happen to a file, to some at each end and in the middle. */
const change = (workDir: string, round: number): void => {
  for (const folder of [0, 25, FOLDERS - 1]) {
    const at = (name: number): string => join(workDir, `${folder}`, `${name + 10 * round}`);
    writeFileSync(at(1), "other");
    age(at(1));
    chmodSync(at(3), 0o755);
    rmSync(at(5));
    rmSync(at(7));
    mkdirSync(at(7));
    writeFileSync(join(at(7), "in"), "new");
    rmSync(at(9));
    link(at(1), at(9));
    writeFileSync(`${at(1)}.new`, "new");
  }
};

/** What a snapshot is that looks at everything itself, in a store of its own. */
const plainId = (workDir: string): string => {
  const home = tempDir();
  const places = { workDir, harnessHome: home, folder: join(home, "store") };
  const core = createSnapshotCore({
    ...places,
    limits: LIMITS,
    now: later,
    startLooking: () => ({ postMessage: () => undefined }),
  });
  return takeNow(core).id;
};

describe("a second thread that looks at files", () => {
  it("makes no other snapshot, also where it is through before the walk begins", () => {
    const { root, workDir } = bigPlace();
    let looks = 0;
    const look = createLooker();
    const places = { workDir, harnessHome: root, folder: join(root, "store") };
    const open = (): SnapshotCore =>
      createSnapshotCore({
        ...places,
        limits: LIMITS,
        now: later,
        startLooking: () => ({
          postMessage: (task) => {
            look(task);
            if (task.type === "look") looks = task.marks.filter((mark) => mark === 1).length;
          },
        }),
      });
    const core = open();
    expect(takeNow(core).id).toBe(plainId(workDir));
    expect(looks).toBe(0);
    for (let round = 0; round < 2; round += 1) {
      change(workDir, round);
      expect(takeNow(core).id).toBe(plainId(workDir));
      expect(looks).toBeGreaterThan(FOLDERS * FILES_A_FOLDER - 100);
    }
    writeFileSync(join(workDir, ".gitignore"), "/25/\n5*\n");
    expect(takeNow(core).id).toBe(plainId(workDir));
    expect(takeNow(open()).id).toBe(plainId(workDir));
  });

  it("is done without where the system has none to give", () => {
    const { root, workDir } = bigPlace();
    const places = { workDir, harnessHome: root, folder: join(root, "store") };
    const open = (): SnapshotCore => createSnapshotCore({ ...places, limits: LIMITS, now: later, startLooking });
    const cores = [open(), open()];
    for (const [round, core] of cores.entries())
      for (const more of [0, 1]) {
        change(workDir, 2 * round + more);
        expect(takeNow(core).id).toBe(plainId(workDir));
      }
  });

  it.skipIf(process.platform !== "linux")("is started by the worker, and ends with it", async () => {
    const { root, workDir } = bigPlace();
    // A file that has changed within two seconds is not vouched for.
    const made = Date.now();
    await vi.waitUntil(() => Date.now() - made > 2100, { timeout: 3000 });
    const snapshots = openSnapshots({ workDir, harnessHome: root, folder: join(root, "store"), strings: en.rewind });
    onTestFinished(() => snapshots.close());
    const threads = (): number => readdirSync("/proc/self/task").length;
    for (let round = 0; round < 4; round += 1) {
      expect((await snapshots.take()).id).toBe(plainId(workDir));
      change(workDir, round);
    }
    const during = threads();
    await snapshots.close();
    // The worker and the one that it has started.
    expect(during - threads()).toBe(2);
  });
});
