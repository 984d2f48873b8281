import { createReadStream, readdirSync, readFileSync, statSync, watch } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Writable } from "node:stream";
import { EXIT } from "../text/exit.ts";
import { UserError } from "../text/user-error.ts";
import type { RunOptions } from "./program.ts";
import { prepare, type Surroundings } from "./setup.ts";
import { watchSignals } from "./signals.ts";

/** `harness9 logs`: the newest log of the work directory. Returns the exit code. */
export const runLogs = async (
  options: RunOptions & { readonly follow?: true; readonly lines: string },
  surroundings: Surroundings,
): Promise<number> => {
  const { paths, strings } = await prepare(surroundings, options);
  const lines = Number(options.lines);
  if (!Number.isSafeInteger(lines) || lines < 0)
    throw new UserError(strings.cli.usage(`--lines ${options.lines}`), { exitCode: EXIT.usage });
  const path = newestLog(paths.sessions);
  if (path === undefined) throw new UserError(strings.cli.noLogs, { exitCode: EXIT.input });
  const stop = watchSignals();
  process.stdout.on("error", () => stop.close());
  await printLog(path, { lines, follow: options.follow === true, stdout: process.stdout, signal: stop.signal });
  stop.dispose();
  return stop.exitCode ?? 0;
};

type LogsOptions = {
  readonly lines: number;
  readonly follow: boolean;
  readonly stdout: Writable;
  readonly signal: AbortSignal;
};

/** The newest log of a session folder; undefined where there is none. */
const newestLog = (folder: string): string | undefined => {
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch {
    // No session has run here.
    return undefined;
  }
  const [newest] = names
    .filter((name) => name.endsWith(".log"))
    .map((name) => ({ path: join(folder, name), time: statSync(join(folder, name)).mtimeMs }))
    .sort((a, b) => b.time - a.time);
  return newest?.path;
};

/** Prints the end of a log, and with `follow` what is added to it until the signal aborts. */
const printLog = async (path: string, { lines, follow, stdout, signal }: LogsOptions): Promise<void> => {
  const text = readFileSync(path, "utf8");
  stdout.write(`${path}\n${lastLines(text, lines)}`);
  if (!follow) return;
  let position = Buffer.byteLength(text);
  let copying = Promise.resolve();
  const copy = async (): Promise<void> => {
    for await (const chunk of createReadStream(path, { start: position })) {
      position += (chunk as Buffer).length;
      stdout.write(chunk);
    }
  };
  // The folder rather than the file: a watch on the file ends when it is replaced.
  const watcher = watch(dirname(path), (_event, name) => {
    if (name === basename(path)) copying = copying.then(copy);
  });
  // What came between the reading and the watch.
  copying = copying.then(copy);
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
  watcher.close();
  await copying;
};

const lastLines = (text: string, count: number): string => {
  const lines = text.split("\n");
  const last = lines.at(-1) === "" ? lines.slice(-count - 1) : lines.slice(-count);
  return last.join("\n");
};
