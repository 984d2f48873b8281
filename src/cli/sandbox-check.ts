import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Strings } from "../text/strings.ts";
import { createSandbox, openSandbox } from "../tools/sandbox/open-sandbox.ts";
import { createPolicy } from "../tools/sandbox/policy.ts";
import { problemHint, problemText, sandboxOptions } from "./sandbox.ts";
import type { Setup } from "./setup.ts";

export type SandboxFinding = { readonly status: "ok" | "warning"; readonly summary: string; readonly hint?: string };

const TIMEOUT_MS = 5000;

/** Starts the sandbox with the real policy, and once more to see what it refuses. */
export const checkSandbox = async (setup: Setup): Promise<SandboxFinding> => {
  const { env, strings, config } = setup;
  const options = sandboxOptions(setup, []);
  const found = await openSandbox({ ...options, env, platform: process.platform });
  if (found.type !== "works")
    return {
      status: "warning",
      summary: problemText(found, strings.sandbox),
      hint: problemHint(found, strings.sandbox),
    };
  const { name, program } = found.sandbox;
  const leaks = await probe((folder) =>
    createSandbox({
      name,
      program,
      policy: () => ({
        // Less may be written than in a session: the folder with the probes lies in one that may be.
        ...createPolicy(options)(),
        workDir: join(folder, "inside"),
        writable: [join(folder, "inside")],
        readOnly: [],
        hidden: [join(folder, "hidden")],
        network: "off",
      }),
    }),
  );
  if (leaks.length > 0)
    return {
      status: "warning",
      summary: strings.sandbox.leaks(name, leaks.map((leak) => strings.sandbox.checks[leak]).join("; ")),
    };
  return { status: "ok", summary: strings.sandbox.works(name, `sandbox: ${config.settings.sandbox}`) };
};

type Leak = keyof Strings["sandbox"]["checks"];

const SCRIPT = `touch "$1/inside/made" "$1/outside/made"
cat "$1/hidden/secret" >"$1/inside/read"
exec 3<>"/dev/tcp/127.0.0.1/$2" && touch "$1/inside/connected"`;

/** What the sandbox lets through, by what a command has then really done. */
const probe = async (open: (folder: string) => ReturnType<typeof createSandbox>): Promise<readonly Leak[]> => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "harness9-sandbox-")));
  const server = createServer((socket) => socket.destroy());
  try {
    for (const name of ["inside", "outside", "hidden"]) mkdirSync(join(folder, name));
    writeFileSync(join(folder, "hidden", "secret"), "secret");
    const port = await listen(server);
    const { file, args, release } = open(folder).wrap("bash", ["-c", SCRIPT, "bash", folder, String(port)]);
    await new Promise<void>((resolve) => {
      execFile(file, [...args], { timeout: TIMEOUT_MS }, () => resolve());
    });
    release();
    const is = (...names: readonly string[]): boolean => existsSync(join(folder, ...names));
    return [
      ...(is("inside", "made") ? [] : (["inside"] as const)),
      ...(is("outside", "made") ? (["outside"] as const) : []),
      ...(is("inside", "read") && readFileSync(join(folder, "inside", "read"), "utf8") !== ""
        ? (["hidden"] as const)
        : []),
      ...(is("inside", "connected") ? (["network"] as const) : []),
    ];
  } finally {
    server.close();
    rmSync(folder, { recursive: true, force: true });
  }
};

const listen = (server: Server): Promise<number> =>
  new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : 0);
    });
  });
