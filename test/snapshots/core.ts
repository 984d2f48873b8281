import { execFileSync } from "node:child_process";
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { createSnapshotCore, type SnapshotCore } from "../../src/snapshots/snapshot-core.ts";
import type { Snapshot } from "../../src/snapshots/snapshots.ts";
import { LIMITS, type Limits } from "../../src/snapshots/take-snapshot.ts";
import { tempDir } from "../helpers/temp-dir.ts";

export type Place = {
  readonly workDir: string;
  readonly folder: string;
  readonly core: SnapshotCore;
  /** Another process's view of the same store. */
  readonly open: (limits?: Partial<Limits>) => SnapshotCore;
  readonly take: () => Snapshot;
};

/** A clock by which what has just been written is old, so that the stat cache vouches for it. */
export const later = (): number => Date.now() + 60_000;

/** For so few files none is started. */
export const startLooking = (): never => {
  throw new Error("a second thread for a small work directory");
};

/** A work directory and a store outside of it. */
export const place = (limits: Partial<Limits> = {}, now: () => number = Date.now): Place => {
  const root = tempDir();
  const [workDir, harnessHome] = [join(root, "work"), join(root, "home")];
  const folder = join(harnessHome, "snapshots", "work");
  mkdirSync(workDir);
  const open = (own: Partial<Limits> = limits): SnapshotCore =>
    createSnapshotCore({ workDir, folder, harnessHome, limits: { ...LIMITS, ...own }, now, startLooking });
  const core = open();
  return { workDir, folder, core, open, take: () => takeNow(core) };
};

export const takeNow = (core: SnapshotCore): Snapshot => {
  const { snapshot, save } = core.take(() => false);
  save();
  return snapshot;
};

export const write = (folder: string, files: Readonly<Record<string, string>>): void => {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
};

/** Older than what a snapshot distrusts. */
export const age = (path: string): void => utimesSync(path, 1_000_000_000, 1_000_000_000);

export const executable = (path: string): void => chmodSync(path, 0o755);
export const link = (target: string, path: string): void => symlinkSync(target, path);

/** Everything below a folder as text: the modes and bytes of files, where links lead, folders. Names by their bytes. */
export const listing = (folder: string): Record<string, string> => {
  const found: [string, string][] = [];
  const visit = (path: Buffer, name: string): void => {
    for (const child of readdirSync(path, "latin1").sort()) {
      const place = Buffer.concat([path, Buffer.from("/"), Buffer.from(child, "latin1")]);
      const shown = name === "" ? child : `${name}/${child}`;
      const stats = lstatSync(place);
      if (stats.isDirectory()) {
        found.push([`${shown}/`, "folder"]);
        visit(place, shown);
      } else if (stats.isSymbolicLink()) found.push([shown, `-> ${readlinkSync(place, "latin1")}`]);
      else if (stats.isFile())
        found.push([shown, `${(stats.mode & 0o777).toString(8)} ${readFileSync(place, "latin1")}`]);
      else found.push([shown, "special"]);
    }
  };
  visit(Buffer.from(folder), "");
  return Object.fromEntries(found);
};

export const git = (workDir: string, ...args: readonly string[]): string =>
  execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b.c", ...args], { cwd: workDir }).toString();
