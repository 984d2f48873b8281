import { createHash, randomBytes } from "node:crypto";
import { realpathSync } from "node:fs";
import { chmod, mkdir, open, realpath, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { localTime } from "../text/local-time.ts";

export type HarnessPaths = {
  /** `~/.harness9`, or where HARNESS9_HOME points. */
  readonly home: string;
  readonly config: string;
  readonly dotenv: string;
  readonly instructions: string;
  readonly trust: string;
  readonly history: string;
  readonly sandboxTrial: string;
  readonly skills: string;
  readonly agents: string;
  readonly memory: string;
  /** `<slug of the folder's name>-<8 hex of sha256(real path)>`. */
  readonly project: string;
  readonly sessions: string;
  readonly snapshots: string;
  /** `.harness9` in the work directory, with what people put there. */
  readonly projectHome: string;
  readonly projectSettings: string;
  readonly projectLocalSettings: string;
  readonly projectDotenv: string;
};

export type HarnessPathsOptions = {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly homeDir: string;
  readonly workDir: string;
};

/** Where everything is kept. Nothing is created. */
export const harnessPaths = ({ env, homeDir, workDir }: HarnessPathsOptions): HarnessPaths => {
  const home = env["HARNESS9_HOME"] ? resolve(workDir, env["HARNESS9_HOME"]) : join(homeDir, ".harness9");
  const project = projectName(workDir);
  const projectHome = join(workDir, ".harness9");
  return {
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
    projectHome,
    projectSettings: join(projectHome, "settings.json"),
    projectLocalSettings: join(projectHome, "settings.local.json"),
    projectDotenv: join(workDir, ".env"),
  };
};

const projectName = (workDir: string): string => {
  const path = realPath(workDir);
  const slug = basename(path)
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, "-")
    .slice(0, 40)
    .replace(/^-+|-+$/g, "");
  return `${slug || "project"}-${createHash("sha256").update(path).digest("hex").slice(0, 8)}`;
};

const realPath = (path: string): string => {
  try {
    return realpathSync(path);
  } catch {
    // The folder may not be there (yet); its own name is the best there is.
    return resolve(path);
  }
};

export type SessionFiles = { readonly journal: string; readonly log: string; readonly outputs: string };

/** The files of one session. Throws on what is no session id, so that no id can point outside the folder. */
export const sessionFiles = (paths: HarnessPaths, id: string): SessionFiles => {
  if (!isSessionId(id)) throw new RangeError(`not a session id: ${JSON.stringify(id)}`);
  const base = join(paths.sessions, id);
  return { journal: `${base}.jsonl`, log: `${base}.log`, outputs: `${base}.outputs` };
};

const SESSION_ID = /^\d{8}-\d{6}-[0-9a-z]{4}$/;

export const isSessionId = (text: string): boolean => SESSION_ID.test(text);

/** `YYYYMMDD-HHMMSS-xxxx` in local time; `random` gives numbers in [0, 1). */
export const newSessionId = (date: Date, random: () => number): string => {
  const { year, month, day, hour, minute, second } = localTime(date);
  const suffix = Array.from({ length: 4 }, () => Math.floor(random() * 36).toString(36)).join("");
  return `${year}${month}${day}-${hour}${minute}${second}-${suffix}`;
};

/** Makes the folder with its parents; it ends as 0700, also when it existed wider. */
export const ensurePrivateDir = async (path: string): Promise<void> => {
  await mkdir(path, { recursive: true, mode: 0o700 });
  const { mode } = await stat(path);
  if ((mode & 0o777) !== 0o700) await chmod(path, 0o700);
};

/** Replaces a file at once, or makes it; it ends as 0600, also when it existed wider. A symlink is written through. */
export const writePrivateFile = async (path: string, text: string | Uint8Array): Promise<void> => {
  await ensurePresent(dirname(path));
  const target = await realpath(path).catch(() => path);
  const temporary = `${target}.${randomBytes(6).toString("hex")}.tmp`;
  try {
    const file = await open(temporary, "wx", 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, target);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
};

const ensurePresent = (folder: string): Promise<unknown> => mkdir(folder, { recursive: true, mode: 0o700 });
