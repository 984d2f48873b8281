import { chmodSync, lstatSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, it } from "vitest";
import { parentsOf } from "../../src/snapshots/byte-path.ts";
import type { RestorePlan, Step } from "../../src/snapshots/snapshots.ts";
import { git, listing, type Place, place } from "./core.ts";

/*
 * Tools and commands change files within steps, an outsider between and after them. The model is the listing of the folder at
 * each end of a step, as the file system itself tells it.
 */

const NAMES = ["a", "b", "A", "__proto__", "constructor", "with space", "é\n", ".hidden"] as const;
/** Not UTF-8. */
const ODD = "\xff\xfe";

const pathOf = fc
  .array(fc.constantFrom(...NAMES.map((name) => Buffer.from(name).toString("latin1")), ODD), {
    minLength: 1,
    maxLength: 3,
  })
  .map((names) => names.join("/"));

type Edit =
  | { readonly type: "write"; readonly path: string; readonly text: string }
  | { readonly type: "remove"; readonly path: string }
  | { readonly type: "rename"; readonly path: string; readonly to: string }
  | { readonly type: "mode"; readonly path: string; readonly mode: number }
  | { readonly type: "link"; readonly path: string; readonly target: string }
  | { readonly type: "folder"; readonly path: string };

const edit: fc.Arbitrary<Edit> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ type: fc.constant("write"), path: pathOf, text: fc.string({ maxLength: 6 }) }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant("remove"), path: pathOf }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant("rename"), path: pathOf, to: pathOf }) },
  {
    weight: 1,
    arbitrary: fc.record({ type: fc.constant("mode"), path: pathOf, mode: fc.constantFrom(0o644, 0o755, 0o600) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant("link"),
      path: pathOf,
      target: fc.constantFrom("a", "..", "../../outside", "nowhere"),
    }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("folder"), path: pathOf }) },
);
const edits = fc.array(edit, { maxLength: 6 });

type Round = { readonly outsider: readonly Edit[]; readonly step: readonly Edit[] };
const rounds: fc.Arbitrary<readonly Round[]> = fc.array(fc.record({ outsider: edits, step: edits }), {
  minLength: 1,
  maxLength: 3,
});

/** A clock by which a file is old enough for the stat cache after some ticks of the file system's clock. */
const soon = (): number => Date.now() + 1980;

type Listing = Readonly<Record<string, string>>;

it("takes back what steps have done and nothing else, and back again", { timeout: 120_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(edits, rounds, edits, fc.boolean(), async (first, all, last, usesCache) => {
      const here = place({}, usesCache ? soon : Date.now);
      git(here.workDir, "init", "--quiet");
      mkdirSync(join(here.workDir, "../outside"));
      writeFileSync(join(here.workDir, "../outside/a"), "theirs");
      run(here, first);
      const steps: Step[] = [];
      const ends: { before: Listing; after: Listing }[] = [];
      for (const { outsider, step } of all) {
        run(here, outsider);
        const [id, before] = [here.take().id, listing(here.workDir)];
        run(here, step);
        steps.push({ before: id, after: here.take().id });
        ends.push({ before, after: listing(here.workDir) });
      }
      run(here, last);
      const now = files(listing(here.workDir));
      const repository = listing(join(here.workDir, ".git"));

      const plan = await here.core.plan(steps);
      expect(files(listing(here.workDir))).toEqual(now);
      const { kept, undo } = await here.core.apply(structuredClone(plan));
      const restored = files(listing(here.workDir));
      expect(kept).toEqual([]);
      expect(restored).toEqual(expected(now, ends, plan));

      const undone = await here.core.apply(JSON.parse(JSON.stringify(undo)));
      expect([undone.kept, files(listing(here.workDir))]).toEqual([[], now]);
      const redone = await here.core.apply(undone.undo);
      expect([redone.kept, files(listing(here.workDir))]).toEqual([[], restored]);

      expect(listing(join(here.workDir, ".git"))).toEqual(repository);
      expect(readFileSync(join(here.workDir, "../outside/a"), "utf8")).toBe("theirs");
    }),
    { numRuns: 30 },
  );
});

/** What the folder should hold afterwards: a touched path as before the first touch, where it was left as it was and the way is free. */
const expected = (now: Listing, ends: readonly { before: Listing; after: Listing }[], plan: RestorePlan): Listing => {
  const result = new Map(Object.entries(now));
  const conflicts: string[] = [];
  const paths = new Set(
    ends.flatMap(({ before, after }) => [...Object.keys(files(before)), ...Object.keys(files(after))]),
  );
  for (const path of [...paths].sort()) {
    const touching = ends
      .map(({ before, after }) => [own(files(before), path), own(files(after), path)] as const)
      .filter(([a, b]) => a !== b);
    const [from] = touching.at(0) ?? [];
    const [, to] = touching.at(-1) ?? [];
    if (touching.length === 0 || from === to) continue;
    if (own(now, path) === from) continue;
    const isTheirs =
      own(now, path) !== to || touching.some(([a], index) => index > 0 && touching[index - 1]?.[1] !== a);
    if (isTheirs) conflicts.push(path);
    else if (from === undefined) result.delete(path);
    else result.set(path, from);
  }
  // Where others have put a file or a link above or a file below, both cannot be: what was there stays.
  for (const path of [...result.keys()])
    if (
      own(now, path) === undefined &&
      (parentsOf(path).some((parent) => result.has(parent)) || hasBelow(now, result, path))
    ) {
      result.delete(path);
      conflicts.push(path);
    }
  expect(plan.conflicts.length).toBe(conflicts.length);
  return Object.fromEntries([...result].sort(([a], [b]) => (a < b ? -1 : 1)));
};

/** Something that stays is below the path. */
const hasBelow = (now: Listing, result: ReadonlyMap<string, string>, path: string): boolean =>
  Object.keys(now).some((other) => other.startsWith(`${path}/`) && result.has(other));

const own = (record: Listing, key: string): string | undefined =>
  Object.hasOwn(record, key) ? record[key] : undefined;

/** Without folders and git's own. */
const files = (all: Listing): Listing =>
  Object.fromEntries(Object.entries(all).filter(([path, state]) => state !== "folder" && !path.startsWith(".git/")));

const run = ({ workDir }: Place, list: readonly Edit[]): void => {
  for (const one of list) act(workDir, one);
};

/** What cannot be done is not done, as with a command that fails. */
const act = (workDir: string, one: Edit): void => {
  const place = (path: string): Buffer => Buffer.concat([Buffer.from(`${workDir}/`), Buffer.from(path, "latin1")]);
  const isBelowLink = (path: string): boolean =>
    parentsOf(path).some((parent) => lstatSync(place(parent), { throwIfNoEntry: false })?.isDirectory() === false);
  if (isBelowLink(one.path) || (one.type === "rename" && isBelowLink(one.to))) return;
  const target = place(one.path);
  const makeWay = (path: string): void => {
    for (const parent of parentsOf(path)) mkdirSync(place(parent), { recursive: true });
  };
  try {
    switch (one.type) {
      case "write":
        makeWay(one.path);
        rmSync(target, { recursive: true, force: true });
        writeFileSync(target, one.text);
        return;
      case "remove":
        rmSync(target, { recursive: true, force: true });
        return;
      case "rename":
        makeWay(one.to);
        renameSync(target, place(one.to));
        return;
      case "mode":
        if (lstatSync(target).isFile()) chmodSync(target, one.mode);
        return;
      case "link":
        makeWay(one.path);
        rmSync(target, { recursive: true, force: true });
        symlinkSync(one.target, target);
        return;
      case "folder":
        mkdirSync(target, { recursive: true });
        return;
      default:
        throw one satisfies never;
    }
  } catch (error) {
    if (!(error instanceof Error && "code" in error)) throw error;
  }
};
