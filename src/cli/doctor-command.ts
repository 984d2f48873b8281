import { accessSync, constants } from "node:fs";
import { dirname } from "node:path";
import { listModels } from "../providers/models-endpoint.ts";
import { createFetch } from "../providers/transport.ts";
import { shownAddress } from "../text/address.ts";
import { visibleControls } from "../text/clean.ts";
import { errorMessage, systemMessage } from "../text/error-message.ts";
import { printableJson } from "../text/printable-json.ts";
import type { Strings } from "../text/strings.ts";
import type { RunOptions } from "./program.ts";
import { checkSandbox } from "./sandbox-check.ts";
import { prepare, type Setup, type Surroundings } from "./setup.ts";

const ENDPOINT_TIMEOUT_MS = 5000;
const PROGRAM_TIMEOUT_MS = 5000;

export type Check = {
  readonly id: string;
  readonly status: "ok" | "warning" | "error";
  readonly summary: string;
  /** What to do about it. */
  readonly hint?: string;
  readonly durationMs: number;
};

type Finding = Omit<Check, "id" | "durationMs">;

/** `harness9 doctor`: what works here and what does not. Returns 1 when something that is needed is missing. */
export const runDoctor = async (
  options: RunOptions & { readonly json?: true },
  surroundings: Surroundings,
  version: string,
): Promise<number> => {
  const setup = await prepare(surroundings, options);
  const checks = await runChecks(setup, version);
  if (options.json) process.stdout.write(`${printableJson({ version, checks }, { indent: 2 })}\n`);
  else for (const check of checks) process.stdout.write(line(check));
  return checks.some(({ status }) => status === "error") ? 1 : 0;
};

/** What the command prints, by line. */
export const doctorLines = async (setup: Setup, version: string): Promise<readonly string[]> =>
  (await runChecks(setup, version)).flatMap((check) => line(check).trimEnd().split("\n"));

const runChecks = (setup: Setup, version: string): Promise<readonly Check[]> =>
  Promise.all([...localChecks(setup, version), ...endpointChecks(setup)]);

const localChecks = (setup: Setup, version: string): readonly Promise<Check>[] => {
  const { env, paths, strings } = setup;
  const { doctor } = strings;
  return [
    timed("harness9", async () => ok(version)),
    timed("node", async () => ok(process.version)),
    timed("terminal", async () => {
      const { columns, isTTY } = process.stdout;
      return ok(isTTY ? `${env["TERM"] ?? "?"}, ${columns} columns` : doctor.noTerminal);
    }),
    timed("shell", () => program("bash", ["--version"], env, { status: "error", hint: doctor.installBash }, doctor)),
    timed("git", () => program("git", ["--version"], env, { status: "warning", hint: doctor.installGit }, doctor)),
    timed("ripgrep", () =>
      program("rg", ["--version"], env, { status: "warning", hint: doctor.installRipgrep }, doctor),
    ),
    timed("sandbox", () => checkSandbox(setup)),
    timed("keys", async () => keys(setup)),
    timed("log", async () => {
      try {
        accessSync(nearestFolder(paths.sessions), constants.W_OK);
        return ok(paths.sessions);
      } catch (error) {
        return { status: "warning", summary: `${paths.sessions}: ${systemMessage(error)}`, hint: doctor.logUnwritable };
      }
    }),
  ];
};

/** Each endpoint that a run might use: those with a key, or with an address of the person's own. */
const endpointChecks = ({ servers, secrets, env, strings }: Setup): readonly Promise<Check>[] => {
  const fetch = createFetch({ env });
  return servers.flatMap((server) => {
    const credential = secrets.credentials.get(server.name);
    if (!credential || (credential.key === null && credential.isOwnAddress)) return [];
    return timed(`endpoint ${server.name}`, async (): Promise<Finding> => {
      const startedAt = performance.now();
      const address = shownAddress(credential.baseUrl);
      try {
        const signal = AbortSignal.timeout(ENDPOINT_TIMEOUT_MS);
        const models = await listModels(credential.baseUrl, credential.key?.value ?? "", fetch, signal, server.dialect);
        const latencyMs = Math.round(performance.now() - startedAt);
        return ok(strings.doctor.reachable(address, latencyMs, models.length));
      } catch (error) {
        return { status: "warning", summary: `${address}: ${errorMessage(error)}`, hint: strings.doctor.endpointHint };
      }
    });
  });
};

const keys = ({ servers, secrets, strings }: Setup): Finding => {
  const found = servers.flatMap(({ name, keyVariable }) => {
    const key = secrets.credentials.get(name)?.key;
    return key && keyVariable !== null ? [`${keyVariable} (${key.origin})`] : [];
  });
  return found.length > 0
    ? ok(found.join(", "))
    : { status: "warning", summary: strings.doctor.noKeys, hint: strings.offline.connect };
};

/** Whether a program runs, with the first line that it prints. */
const program = async (
  command: string,
  args: readonly string[],
  env: Setup["env"],
  missing: { readonly status: "warning" | "error"; readonly hint: string },
  { notFound }: Strings["doctor"],
): Promise<Finding> => {
  const { execa } = await import("execa");
  const options = { env, extendEnv: false, reject: false, stdin: "ignore", timeout: PROGRAM_TIMEOUT_MS } as const;
  const { failed, code, stdout, stderr, shortMessage = command } = await execa(command, args, options);
  if (!failed) return ok(firstLine(stdout));
  return { ...missing, summary: code === "ENOENT" ? notFound : firstLine(stderr || shortMessage) };
};

const firstLine = (text: string): string => text.split("\n", 1)[0] ?? "";

const ok = (summary: string): Finding => ({ status: "ok", summary });

const timed = async (id: string, check: () => Promise<Finding>): Promise<Check> => {
  const startedAt = performance.now();
  const finding = await check();
  return { id, ...finding, durationMs: Math.round(performance.now() - startedAt) };
};

const MARKS = { ok: "✓", warning: "!", error: "✗" } as const;

const line = ({ id, status, summary, hint }: Check): string =>
  `${MARKS[status]} ${visibleControls(`${id}: ${summary}`)}${hint === undefined ? "" : `\n    ${hint}`}\n`;

/** The folder itself, or the nearest one above it that exists. */
const nearestFolder = (path: string): string => {
  try {
    accessSync(path);
    return path;
  } catch {
    const parent = dirname(path);
    return parent === path ? path : nearestFolder(parent);
  }
};
