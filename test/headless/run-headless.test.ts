import { Writable } from "node:stream";
import { expect, test } from "vitest";
import { Engine } from "../../src/engine/engine.ts";
import { runHeadless } from "../../src/headless/run-headless.ts";
import { Session } from "../../src/session/session.ts";
import { zh } from "../helpers/engine.ts";
import { scriptedProvider } from "../helpers/scripted-provider.ts";

const collector = () => {
  const parts: string[] = [];
  const stream = new Writable({
    write: (chunk, _encoding, done) => {
      parts.push(String(chunk));
      done();
    },
  });
  return { stream, text: () => parts.join("") };
};

test("a bug in the run is printed as its one result and thrown, so that its stack can be kept", async () => {
  const bug = new TypeError("x is not a function");
  const engine = new Engine({
    provider: scriptedProvider({ text: "" }),
    info: { contextWindow: null, maxOutputTokens: null, prices: null },
    tools: {
      getAvailableTools: () => {
        throw bug;
      },
      display: () => "",
      mayAsk: async () => false,
      execute: () => Promise.reject(bug),
    },
    limits: { maxTurns: 1, toolTimeoutMs: 1000, maxConcurrentTools: 0 },
    thinking: "off",
    permissionMode: () => "auto",
    sandbox: "off",
    logFile: null,
    session: { id: "s", workDir: "/work" },
    mask: (text) => text,
    strings: zh.engine,
    now: () => 0,
  });
  const session = new Session({ id: "s", systemPrompt: "", engine, sinks: [], clock: () => new Date(0) });
  const [stdout, stderr] = [collector(), collector()];
  const run = runHeadless(session, { content: "hello", source: "person" }, new AbortController().signal, {
    format: "json",
    stdout: stdout.stream,
    stderr: stderr.stream,
    strings: zh.headless,
    version: "0",
    tools: [],
  });
  await expect(run).rejects.toBe(bug);
  expect(stdout.text().trimEnd().split("\n")).toHaveLength(1);
  expect(JSON.parse(stdout.text())).toMatchObject({ type: "result", is_error: true, errors: [bug.message] });
  expect(stderr.text()).toBe("");
});
