import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { EngineEvent } from "../../src/schema/event.ts";
import { en } from "../../src/text/en.ts";
import { modelServer, openAIAnswer } from "../helpers/model-server.ts";
import {
  bash,
  KEY,
  newPlace,
  openAIEnv,
  type Place,
  put,
  readEvents,
  readLog,
  runProgram,
  startProgram,
  toolCalls,
} from "../helpers/program.ts";

const strings = en.hooks;

const userHooks = ({ home }: Place, hooks: readonly object[]): void => {
  put(home, ".harness9/config.json", JSON.stringify({ hooks }));
};

const play = async (place: Place, args: readonly string[] = [], command = "touch ran") => {
  const server = await modelServer([toolCalls([bash(command)]), openAIAnswer("All done.")]);
  const options = { place, env: { ...openAIEnv(server), OTHER: "seen" } };
  const ended = await runProgram(["run", "--output-format", "events", ...args, "go"], options);
  const events = ended.stdout === "" ? [] : readEvents(ended.stdout);
  return { ...ended, events, ran: existsSync(join(place.workDir, "ran")), requests: server.requests };
};

const notices = (events: readonly EngineEvent[]) =>
  events.flatMap((event) => (event.type === "notice" ? [event.text] : []));

test("the person's hooks hear of everything in order, in the work directory, without the key", async () => {
  const place = newPlace();
  const events = ["session.start", "prompt.submit", "tool.pre", "tool.post", "stop", "session.end"];
  const command = "cat >> told; env >> environment; pwd >> places";
  userHooks(
    place,
    events.map((on) => ({ on, command })),
  );
  const { exitCode, stderr, ran } = await play(place);
  expect({ exitCode, stderr, ran }).toEqual({ exitCode: 0, stderr: "", ran: true });
  const told = readFileSync(join(place.workDir, "told"), "utf8");
  expect(
    told
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line).event),
  ).toEqual(events);
  const environment = readFileSync(join(place.workDir, "environment"), "utf8");
  expect(environment).toContain("OTHER=seen");
  expect(environment + told).not.toContain(KEY);
  expect(environment).not.toContain("OPENAI_API_KEY");
  expect(new Set(readFileSync(join(place.workDir, "places"), "utf8").trim().split("\n"))).toEqual(
    new Set([place.workDir]),
  );
});

test("a blocked call does not run, the model learns why, and the log has the decision", async () => {
  const place = newPlace();
  const script = put(
    place.home,
    "check.cjs",
    "const { arguments: args } = JSON.parse(require('fs').readFileSync(0, 'utf8')); if (/touch/.test(args.command)) { console.error('no touching'); process.exit(2); }",
  );
  const command = `node ${script}`;
  userHooks(place, [{ on: "tool.pre", match: "bash", command }]);
  const { exitCode, events, ran, requests } = await play(place);
  expect({ exitCode, ran }).toEqual({ exitCode: 0, ran: false });
  expect(events.find(({ type }) => type === "permission.resolved")).toMatchObject({ decision: "reject", by: "hook" });
  expect(JSON.stringify(requests[1]?.body)).toContain("no touching");
  expect(readLog(place)).toContain("decision=reject by=hook");
});

test("a hook whose program is missing refuses and says so; one that hangs is ended", async () => {
  const place = newPlace();
  userHooks(place, [
    { on: "prompt.submit", command: "sleep 300", timeout: "200ms" },
    { on: "tool.pre", command: "./missing 2>/dev/null" },
  ]);
  const { ran, events } = await play(place);
  expect(ran).toBe(false);
  expect(notices(events)).toEqual([
    strings.failed("prompt.submit", "sleep 300", strings.timedOut(0.2), false),
    strings.failed("tool.pre", "./missing 2>/dev/null", strings.exited(127, ""), true),
  ]);
});

test("a refused prompt ends the run with exit code 42 and no request", async () => {
  const place = newPlace();
  userHooks(place, [{ on: "prompt.submit", command: "echo 'not this one' >&2; exit 2" }]);
  const { exitCode, events, requests } = await play(place);
  expect({ exitCode, requests }).toEqual({ exitCode: 42, requests: [] });
  expect(events.filter(({ type }) => type === "run.completed")).toMatchObject([
    { reason: "error", error: { message: strings.promptRefused("go", "not this one") } },
  ]);
});

test("a hook that asks is a refusal in a run, with the exit code for want of a person", async () => {
  const place = newPlace();
  userHooks(place, [{ on: "tool.pre", command: 'echo \'{"decision":"ask","reason":"sure?"}\'' }]);
  const { exitCode, ran, requests } = await play(place, ["--yolo"]);
  expect({ exitCode, ran }).toEqual({ exitCode: 54, ran: false });
  expect(JSON.stringify(requests[1]?.body)).toContain(en.permission.needsConfirmation(strings.asks("sure?")));
});

test("changed arguments run", async () => {
  const place = newPlace();
  userHooks(place, [{ on: "tool.pre", command: 'echo \'{"arguments":{"command":"touch instead"}}\'' }]);
  const { ran } = await play(place);
  expect({ ran, instead: existsSync(join(place.workDir, "instead")) }).toEqual({ ran: false, instead: true });
});

test("a project's hooks run only where the folder is trusted", async () => {
  const place = newPlace();
  put(
    place.workDir,
    ".harness9/settings.json",
    JSON.stringify({ hooks: [{ on: "tool.post", command: "touch marker" }] }),
  );
  const marker = join(place.workDir, "marker");
  const untrusted = await play(place);
  expect(untrusted.ran).toBe(true);
  expect(existsSync(marker)).toBe(false);
  expect(untrusted.stderr).toContain("hooks");
  expect((await play(place, ["--trust"])).exitCode).toBe(0);
  expect(existsSync(marker)).toBe(true);
});

test("SIGINT ends a hook that runs, and with it the run", async () => {
  const place = newPlace();
  userHooks(place, [{ on: "tool.pre", command: "echo $$ > pid; sleep 300" }]);
  const server = await modelServer([toolCalls([bash("touch ran")]), openAIAnswer("never")]);
  const program = startProgram(["run", "--output-format", "events", "go"], { place, env: openAIEnv(server) });
  const pid = join(place.workDir, "pid");
  await expect.poll(() => existsSync(pid) && readFileSync(pid, "utf8") !== "", { timeout: 10_000 }).toBe(true);
  program.child.kill("SIGINT");
  const { exitCode, stdout } = await program.ended;
  expect(exitCode).toBe(130);
  expect(readEvents(stdout).at(-1)).toMatchObject({ type: "run.completed", reason: "cancelled" });
  expect(() => process.kill(Number(readFileSync(pid, "utf8")), 0)).toThrow();
});

test("a setting that is no hook is refused with its place", async () => {
  const place = newPlace();
  userHooks(place, [
    { on: "stop", match: "bash", command: "true" },
    { on: "tool.pre", match: "bash(npm:*)", command: "x" },
  ]);
  const { exitCode, stdout, stderr } = await runProgram(["run", "--output-format", "json", "go"], { place });
  expect(exitCode).toBe(52);
  expect(stdout + stderr).toContain("hooks.0.match");
  expect(stdout + stderr).toContain("hooks.1.match");
});
