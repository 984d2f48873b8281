import { Writable } from "node:stream";
import type { ConfigEntry } from "../config/config.ts";
import { ensurePrivateDir } from "../config/paths.ts";
import { storeKey } from "../config/secrets.ts";
import { setConfigValue } from "../config/set-config-value.ts";
import { SETTING_KEYS } from "../config/settings.ts";
import { visibleControls } from "../text/clean.ts";
import { EXIT } from "../text/exit.ts";
import { nearest } from "../text/nearest.ts";
import { printableJson } from "../text/printable-json.ts";
import { UserError } from "../text/user-error.ts";
import type { ConfigRequest, RunOptions } from "./program.ts";
import { readStdin } from "./read-stdin.ts";
import { say } from "./say.ts";
import { prepare, type Setup, type Surroundings } from "./setup.ts";

/** `harness9 config`: shows and sets settings, and stores keys. */
export const runConfig = async (
  request: ConfigRequest,
  options: RunOptions,
  surroundings: Surroundings,
): Promise<void> => {
  const setup = await prepare(surroundings, options);
  const { config, paths, strings } = setup;
  switch (request.type) {
    case "list":
      for (const warning of setup.warnings) say(warning);
      process.stdout.write(request.json ? `${printableJson(config.entries, { indent: 2 })}\n` : table(config.entries));
      return;
    case "get": {
      const entry = config.entries.find(({ key }) => key === request.key);
      if (!entry)
        throw new UserError(strings.cli.unknownKey(request.key, nearest(request.key, SETTING_KEYS)), {
          exitCode: EXIT.usage,
        });
      process.stdout.write(`${show(entry.value)}\n`);
      return;
    }
    case "set": {
      const file = request.project ? paths.projectSettings : paths.config;
      if (!request.project) await ensurePrivateDir(paths.home);
      await setConfigValue(file, request.key, request.value, strings.config);
      process.stdout.write(`${visibleControls(strings.cli.saved(request.key, file))}\n`);
      return;
    }
    case "key":
      return saveKey(request.provider, setup);
    default:
      request satisfies never;
  }
};

const saveKey = async (name: string, { servers, paths, strings }: Setup): Promise<void> => {
  const server = servers.find((candidate) => candidate.name === name);
  const names = servers.map((candidate) => candidate.name);
  if (!server)
    throw new UserError(strings.config.unknownProvider(name, nearest(name, names), names), { exitCode: EXIT.config });
  const variable = server.keyVariable;
  if (variable === null) throw new UserError(strings.cli.keyNotNeeded(name), { exitCode: EXIT.usage });
  const key = (await readKey(strings.cli.keyPrompt(variable), strings)).trim();
  if (key === "") throw new UserError(strings.cli.keyEmpty, { exitCode: EXIT.input });
  await storeKey(paths.dotenv, variable, key, strings.config);
  process.stdout.write(`${visibleControls(strings.cli.keyStored(variable, paths.dotenv))}\n`);
};

/** From a terminal without echo, or from standard input. */
const readKey = async (prompt: string, strings: Setup["strings"]): Promise<string> => {
  if (!process.stdin.isTTY) {
    const { stdin } = process;
    return (await readStdin({ stdin, hasPrompt: false, notice: () => undefined, strings: strings.cli })) ?? "";
  }
  const { createInterface } = await import("node:readline/promises");
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const reader = createInterface({ input: process.stdin, output: silent, terminal: true });
  process.stderr.write(prompt);
  try {
    return await new Promise<string>((resolve, reject) => {
      const interrupted = new UserError(strings.engine.cancelled, { exitCode: EXIT.interrupted });
      reader.once("SIGINT", () => reject(interrupted));
      reader.once("close", () => resolve(""));
      // It rejects after a Ctrl-C, which has been heard by then.
      reader.question("").then(resolve, () => undefined);
    });
  } finally {
    reader.close();
    process.stderr.write("\n");
  }
};

const show = (value: unknown): string => visibleControls(typeof value === "string" ? value : JSON.stringify(value));

const table = (entries: readonly ConfigEntry[]): string => {
  const rows = entries.map(({ key, value, origin }) => [key, show(value), visibleControls(origin)] as const);
  const width = (column: 0 | 1): number => Math.max(...rows.map((row) => row[column].length));
  const [keyWidth, valueWidth] = [width(0), Math.min(width(1), 60)];
  return rows
    .map(([key, value, origin]) => `${key.padEnd(keyWidth)}  ${value.padEnd(valueWidth)}  ${origin}\n`)
    .join("");
};
