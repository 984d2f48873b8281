import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { en } from "../../src/text/en.ts";
import { type Answer, type ModelServer, modelServer, openAIAnswer } from "../helpers/model-server.ts";
import { bash, jsonLines, newPlace, openAIEnv, put, readEvents, runProgram, toolCalls } from "../helpers/program.ts";

const WRITE = ["write_file", { path: "a.txt", content: "new\n" }] as const;
const LOOK = bash("ls");

const start = async (
  args: readonly string[],
  script: readonly Answer[],
  { env = {}, settings }: { readonly env?: Readonly<Record<string, string>>; readonly settings?: object } = {},
) => {
  const place = newPlace();
  if (settings) put(place.home, ".harness9/config.json", JSON.stringify(settings));
  const server = await modelServer([...script]);
  const ended = await runProgram(["run", ...args, "go"], { place, env: { ...openAIEnv(server), ...env } });
  return { ...ended, server, hasWritten: existsSync(join(place.workDir, "a.txt")), place };
};

type Sent = { readonly messages: readonly { readonly role: string; readonly content: string | null }[] };

const sent = ({ requests }: ModelServer, index: number): Sent["messages"] =>
  (requests[index]?.body as Sent | undefined)?.messages ?? [];

/** What the model got for its calls, by the first line. */
const observed = (server: ModelServer): readonly unknown[] =>
  sent(server, server.requests.length - 1).flatMap(({ role, content }) =>
    role === "tool" ? [content?.split("\n")[0]] : [],
  );

const ASKS = (what: string, mode: string): string =>
  en.permission.needsConfirmation(en.permission.byMode(mode as "ask", what)).split("\n")[0] ?? "";
const DENIED = (what: string, mode: string): string =>
  en.permission.denied(en.permission.byMode(mode as "plan", what)).split("\n")[0] ?? "";
const { edits, runs } = en.permission;

test.each<[string, Answer, boolean, number, string | RegExp]>([
  ["ask", toolCalls([WRITE]), false, 54, ASKS(edits, "ask")],
  ["ask", toolCalls([bash("touch a.txt")]), false, 54, ASKS(runs, "ask")],
  ["auto-edit", toolCalls([WRITE]), true, 0, /./],
  ["auto-edit", toolCalls([bash("touch a.txt")]), false, 54, ASKS(runs, "auto-edit")],
  ["plan", toolCalls([WRITE]), false, 0, DENIED(edits, "plan")],
  ["plan", toolCalls([bash("touch a.txt")]), false, 0, DENIED(runs, "plan")],
  ["plan", toolCalls([LOOK]), false, 0, /./],
  ["yolo", toolCalls([bash("git reset --hard")]), false, 54, /\[needs confirmation\]/],
])("%s: %j", async (mode, calls, hasWritten, exitCode, output) => {
  const run = await start(["--permission-mode", mode], [calls, openAIAnswer("The answer.")]);
  expect(run.stderr.includes(en.headless.blocked("x").split("x")[0] ?? "")).toBe(exitCode === 54);
  expect([run.exitCode, run.stdout, run.hasWritten]).toEqual([exitCode, "The answer.\n", hasWritten]);
  const [first] = observed(run.server);
  if (typeof output === "string") expect(first).toBe(output);
  else expect(first).toMatch(output);
});

test("what would be asked is refused in the documents' words", async () => {
  const run = await start(["--permission-mode", "ask"], [toolCalls([WRITE]), openAIAnswer("好。")], {
    env: { LANG: "zh_CN.UTF-8" },
  });
  expect(run.exitCode).toBe(54);
  expect(observed(run.server)[0]).toContain("[需要确认]");
});

test("a refused call that is followed by one that works blocks nothing", async () => {
  const script = [toolCalls([WRITE]), toolCalls([LOOK], "next"), openAIAnswer("1. Change a.txt.")];
  const run = await start(["--permission-mode", "plan", "--output-format", "json"], script);
  const [result] = jsonLines(run.stdout);
  expect([run.exitCode, result?.["result"], result?.["permission_denials"]]).toEqual([
    0,
    "1. Change a.txt.",
    [{ tool_name: "write_file", tool_use_id: "call_1", tool_input: WRITE[1] }],
  ]);
});

test("allow rules lift what is asked in ask mode, and nothing in plan mode", async () => {
  const script = () => [toolCalls([bash("touch a.txt")]), openAIAnswer("Done.")];
  const allow = ["--allow", "bash(touch:*)"];
  const asking = await start(["--permission-mode", "ask", ...allow], script());
  expect([asking.exitCode, asking.hasWritten]).toEqual([0, true]);
  const planning = await start(["--permission-mode", "plan", ...allow], script());
  expect([planning.exitCode, planning.hasWritten]).toEqual([0, false]);
});

test("plan: the model is told so, the answer is the plan, and prompt and tools are as ever", async () => {
  const plan = await start(["--permission-mode", "plan"], [openAIAnswer("1. Change a.txt.\n2. Test it.")]);
  expect(plan).toMatchObject({ exitCode: 0, stdout: "1. Change a.txt.\n2. Test it.\n", stderr: "" });
  const auto = await start([], [openAIAnswer("Done.")]);
  const told = sent(plan.server, 0);
  expect(told.at(-1)?.content).toMatch(/^go\n\nReminder from harness9: plan mode is on\. Only reading works/);
  expect(sent(auto.server, 0).at(-1)?.content).toBe("go");
  const systemOf = ({ server, place }: typeof plan) => sent(server, 0)[0]?.content?.replaceAll(place.workDir, "WORK");
  expect(systemOf(plan)).toBe(systemOf(auto));
  const toolsOf = ({ server }: typeof plan) =>
    (server.requests[0]?.body as { readonly tools: unknown } | undefined)?.tools;
  expect(toolsOf(plan)).toEqual(toolsOf(auto));
});

test.each([
  ["ask", "default", 54],
  ["auto-edit", "acceptEdits", 54],
  ["plan", "plan", 0],
])("stream-json and events say the mode %s, what was refused, and how it ended", async (mode, name, exitCode) => {
  const script = () => [toolCalls([bash("touch a.txt")]), openAIAnswer("The answer.")];
  const args = ["--permission-mode", mode];
  const stream = await start([...args, "--output-format", "stream-json"], script());
  const lines = jsonLines(stream.stdout);
  expect(lines[0]).toMatchObject({ type: "system", subtype: "init", permissionMode: name });
  expect(lines.at(-1)).toMatchObject({
    type: "result",
    is_error: exitCode !== 0,
    result: "The answer.",
    permission_denials: [{ tool_name: "bash", tool_use_id: "call_1", tool_input: { command: "touch a.txt" } }],
  });
  expect(stream.exitCode).toBe(exitCode);

  const events = await start([...args, "--output-format", "events"], script());
  const seen = readEvents(events.stdout);
  expect(seen[0]).toMatchObject({ type: "run.started", permissionMode: mode });
  expect(seen.filter(({ type }) => type === "permission.requested")).toEqual([]);
  expect(seen.at(-1)).toMatchObject({
    type: "run.completed",
    reason: exitCode === 0 ? "completed" : "blocked",
    text: "The answer.",
    permissionDenials: [{ toolCallId: "call_1", name: "bash" }],
  });
  expect(events.exitCode).toBe(exitCode);
});

test("the setting of the person's own and the variable set the mode of a run too", async () => {
  const script = () => [toolCalls([WRITE]), openAIAnswer("The answer.")];
  const settings = { permissionMode: "plan" };
  const bySetting = await start([], script(), { settings });
  expect([bySetting.exitCode, bySetting.hasWritten]).toEqual([0, false]);
  const byFlag = await start(["--permission-mode", "auto-edit"], script(), { settings });
  expect([byFlag.exitCode, byFlag.hasWritten]).toEqual([0, true]);
});
