// Snapshots of a work directory: 20,000 files, the first one (cold) and one after five files have changed (warm), through the
// built worker. By itself it prints the figures: node bench/snapshot.mjs [runs]. Needs dist/.
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { importSource } from "./import-source.mjs";

/**
 * @typedef {{ coldMs: number, warmMs: number, mainMs: number, storeRssMb: number }} Snapshots what is measured
 *   `mainMs`: how long the main thread was busy with a warm one; `storeRssMb`: what the process has more after all of them
 */

const REPOSITORY = dirname(dirname(fileURLToPath(import.meta.url)));
const WORKER = pathToFileURL(join(REPOSITORY, "dist", "snapshot-worker.js"));
const FILES = 20_000;
const FILES_A_FOLDER = 25;
const CHANGED = 5;
/** Older than what a snapshot distrusts, as files in a project are. */
const AGED = 1_700_000_000;

const ENTRY = `
export { openSnapshots } from "./src/snapshots/open-snapshots.ts";
export { en } from "./src/text/en.ts";
`;

/**
 * The floor only looks at the name and the times of each file.
 * @returns {Promise<Record<"harness9" | "floor", Record<string, number[]>>>} samples by program and measure
 */
export const measureSnapshots = async (runs) => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "harness9-snapshot-")));
  try {
    const workDir = join(root, "work");
    for (let index = 0; index < FILES; index++) writeAged(join(workDir, name(index)), text(index, 0));
    const { openSnapshots, en } = (await importSource(ENTRY, root)).exports;
    const harnessHome = join(root, "home");
    const open = () =>
      openSnapshots({
        workDir,
        folder: join(harnessHome, "snapshots"),
        harnessHome,
        strings: en.rewind,
        worker: WORKER,
      });
    return await measure(open, workDir, runs);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
};

const measure = async (open, workDir, runs) => {
  const rssBefore = process.memoryUsage().rss;
  const snapshots = open();
  const startedAt = performance.now();
  await snapshots.take();
  const samples = { coldMs: [performance.now() - startedAt], warmMs: [], mainMs: [], storeRssMb: [] };
  const floor = { warmMs: [] };
  for (let round = 1; round <= runs; round++) {
    for (let index = 0; index < CHANGED; index++) writeAged(join(workDir, name(index * 997)), text(index, round));
    const { activeMs, ms } = await observed(() => snapshots.take());
    samples.warmMs.push(ms);
    samples.mainMs.push(activeMs);
    const floorStart = performance.now();
    lookAtAll(workDir);
    floor.warmMs.push(performance.now() - floorStart);
  }
  samples.storeRssMb.push((process.memoryUsage().rss - rssBefore) / 1024 / 1024);
  await snapshots.close();
  return { harness9: samples, floor };
};

const lookAtAll = (folder) => {
  for (const child of readdirSync(folder)) {
    const path = `${folder}/${child}`;
    if (lstatSync(path).isDirectory()) lookAtAll(path);
  }
};

/** The time that something took, and how long the event loop was at work for it. */
const observed = async (work) => {
  const before = performance.eventLoopUtilization();
  const startedAt = performance.now();
  await work();
  const ms = performance.now() - startedAt;
  return { ms, activeMs: performance.eventLoopUtilization(before).active };
};

const name = (index) => {
  const folder = Math.floor(index / FILES_A_FOLDER);
  return `package-${folder % 20}/src-${folder}/file-${index % FILES_A_FOLDER}.ts`;
};

const text = (index, round) => `export const value${index} = ${round};\n`.repeat(60);

const writeAged = (path, content) => {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  utimesSync(path, AGED, AGED);
};

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [program, measures] of Object.entries(await measureSnapshots(Number(process.argv[2] ?? 7))))
    for (const [measureName, values] of Object.entries(measures)) {
      const sorted = values.toSorted((a, b) => a - b);
      const [min, median] = [sorted[0], sorted[sorted.length >> 1]];
      console.log(`${program} ${measureName}: min ${min.toFixed(1)}, median ${median.toFixed(1)}`);
    }
}
