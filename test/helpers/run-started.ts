import type { EngineEventBody } from "../../src/schema/event.ts";

/** How a run begins, for tests of who listens. */
export const runStarted: EngineEventBody = {
  type: "run.started",
  workDir: "/w",
  provider: "p",
  model: "m",
  thinking: "off",
  maxTurns: 10,
  toolTimeoutMs: 1000,
  maxConcurrentTools: 4,
  permissionMode: "ask",
  sandbox: "none",
  logFile: null,
};
