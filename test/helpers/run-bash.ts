import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { EngineEventBody } from "../../src/schema/event.ts";
import type { ToolData } from "../../src/schema/tool.ts";
import { zh } from "../../src/text/zh.ts";
import { type BashOptions, createBash } from "../../src/tools/builtin/bash.ts";
import { childEnv } from "../../src/tools/shell/child-env.ts";
import { tempDir } from "./temp-dir.ts";

export type BashResult = { readonly output: string; readonly isError: boolean; readonly data?: ToolData };

/** A bash tool in a work directory of its own; what it leaves running is ended with the test. */
export const bashForTest = (options: Partial<BashOptions> = {}) => {
  const workDir = tempDir();
  const outputsDir = join(tempDir(), "outputs");
  const env = childEnv(process.env, []);
  const bash = createBash({ workDir, env, outputsDir, strings: zh, ...options });
  onTestFinished(async () => {
    await bash.close();
  });
  const events: EngineEventBody[] = [];
  let calls = 0;
  const run = async (
    args: unknown,
    call: { id?: string; signal?: AbortSignal; onEvent?: () => void } = {},
  ): Promise<BashResult> => {
    calls += 1;
    const result = await bash.tool.execute(bash.tool.parse(args), {
      call: { id: call.id ?? `call_${calls}`, name: "bash", arguments: JSON.stringify(args) },
      signal: call.signal ?? new AbortController().signal,
      emit: (event) => {
        events.push(event);
        call.onEvent?.();
      },
      session: { id: "session", workDir, model: "model" },
    });
    return typeof result === "string" ? { output: result, isError: false } : { isError: false, ...result };
  };
  return { bash, workDir, outputsDir, events, run };
};

/** Command lines of living processes that work in `dir`. */
export const processesIn = (dir: string): string[] =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        if (readlinkSync(`/proc/${pid}/cwd`) !== dir) return [];
        return [readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim()].filter(
          (line) => line !== "",
        );
      } catch {
        return []; // ended since the listing
      }
    });

/** Waits until the condition holds; fails after five seconds. */
export const eventually = async (holds: () => boolean): Promise<void> => {
  const deadline = Date.now() + 5000;
  while (!holds()) {
    if (Date.now() > deadline) throw new Error(`still false after 5 s: ${holds}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
};
