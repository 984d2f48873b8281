import { readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { collect, MAX_STORE_BYTES } from "../../src/snapshots/collect.ts";
import type { SnapshotId } from "../../src/snapshots/snapshots.ts";
import { age, type Place, place, takeNow, write } from "./core.ts";

const NOISE = Array.from({ length: 900 }, (_, index) => String.fromCharCode(33 + ((index * 7919) % 90))).join("");

describe("collecting", () => {
  it("removes what no kept snapshot needs, and keeps the others whole", async () => {
    const here = place();
    const ids = takeSeveral(here, 3);
    makeOld(here);
    const { removedBytes } = collectNow(here, [ids[1] ?? ""]);
    expect(removedBytes).toBeGreaterThan(NOISE.length);
    expect(readdirSync(join(here.folder, "taken"))).toEqual([ids[1]]);
    expect(await content(here, ids[1] ?? "")).toEqual(["a", "same"]);
    await expect(content(here, ids[0] ?? "")).rejects.toMatchObject({ failure: "missing" });
  });

  it("removes nothing that is younger than an hour", async () => {
    const here = place();
    const [first = ""] = takeSeveral(here, 2);
    expect(collectNow(here, []).removedBytes).toBe(0);
    expect(await content(here, first)).toEqual(["a", "same"]);
  });

  it("keeps what a process has used this hour, however old it is", async () => {
    const here = place();
    const [first = ""] = takeSeveral(here, 1);
    makeOld(here);
    expect(takeNow(here.open()).id).toBe(first);
    collectNow(here, []);
    expect(await content(here, first)).toEqual(["a", "same"]);
  });

  it("does not mislead a process whose cache names what has gone", async () => {
    const here = place();
    const [first = ""] = takeSeveral(here, 1);
    makeOld(here);
    collectNow(here, []);
    expect(readdirSync(join(here.folder, "packs"))).toEqual([]);
    expect(here.take().id).toBe(first);
    expect(await content(here, first)).toEqual(["a", "same"]);
  });

  it("lets the oldest snapshots go beyond the limit", async () => {
    const here = place();
    const ids = takeSeveral(here, 4);
    makeOld(here);
    const limit = 3 * NOISE.length + 1500;
    expect(collectNow(here, ids, limit).keptBytes).toBeLessThanOrEqual(limit);
    expect(await content(here, ids[3] ?? "")).toEqual(["a", "same"]);
    await expect(content(here, ids[0] ?? "")).rejects.toMatchObject({ failure: "missing" });
  });

  it("makes one pack of many small ones", async () => {
    const here = place();
    const ids = takeSeveral(here, 40);
    makeOld(here);
    collectNow(here, ids);
    expect(readdirSync(join(here.folder, "packs"))).toHaveLength(1);
    for (const id of ids) expect(await content(here, id)).toEqual(["a", "same"]);
  });

  it("removes what killed processes have left, and does nothing where there is no store", () => {
    const here = place();
    expect(collectNow(here, [])).toEqual({ removedBytes: 0, keptBytes: 0 });
    takeSeveral(here, 1);
    for (const name of ["old", "new"]) writeFileSync(join(here.folder, "tmp", name), "x");
    age(join(here.folder, "tmp", "old"));
    collectNow(here, []);
    expect(readdirSync(join(here.folder, "tmp"))).toEqual(["new"]);
  });
});

const collectNow = (here: Place, keep: readonly SnapshotId[], maxBytes = MAX_STORE_BYTES) =>
  collect({ folder: here.folder, keep, maxBytes, now: Date.now() });

/** Each with a file that differs and one that does not. */
const takeSeveral = (here: Place, count: number): SnapshotId[] =>
  Array.from({ length: count }, (_, index) => {
    write(here.workDir, { a: `${index} ${NOISE}`, same: NOISE });
    return here.take().id;
  });

/** Two hours, the first snapshot being the oldest. */
const makeOld = ({ folder }: Place): void => {
  const seconds = Date.now() / 1000 - 7200;
  for (const name of readdirSync(join(folder, "packs"))) utimesSync(join(folder, "packs", name), seconds, seconds);
  const taken = readdirSync(join(folder, "taken"));
  for (const id of taken) utimesSync(join(folder, "taken", id), seconds, seconds);
};

/** The files that going back to the snapshot from an empty folder brings. */
const content = async (here: Place, id: SnapshotId): Promise<string[]> => {
  const core = here.open();
  for (const name of ["a", "same"]) rmSync(join(here.workDir, name), { force: true });
  const plan = await core.plan([{ before: id, after: takeNow(core).id }]);
  const { restored } = await core.apply(plan);
  return [...restored];
};
