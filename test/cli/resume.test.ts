import {
  appendFileSync,
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import { expect, test } from "vitest";
import {
  type Answer,
  anthropicAnswer,
  type ModelServer,
  modelServer,
  openAIAnswer,
  sse,
} from "../helpers/model-server.ts";
import {
  anthropicEnv,
  bash,
  type Ended,
  jsonLines,
  newPlace,
  openAIEnv,
  type Place,
  put,
  readEvents,
  runProgram,
  sessionFolder,
  startProgram,
  toolCalls,
} from "../helpers/program.ts";
import { messagesOf, strictly } from "../helpers/strict-model.ts";

const USAGE = { prompt_tokens: 10, completion_tokens: 5 };
const DONE = openAIAnswer("Done.", "stop", USAGE);

type Options = { readonly place: Place; readonly env: Readonly<Record<string, string>>; readonly cwd?: string };

const run = (options: Options, ...args: readonly string[]) => runProgram(["run", ...args], options);

const journals = (place: Place): readonly string[] =>
  readdirSync(sessionFolder(place))
    .filter((name) => name.endsWith(".jsonl"))
    .sort()
    .map((name) => join(sessionFolder(place), name));

const idOf = (journal: string): string => basename(journal, ".jsonl");

const onlyId = (place: Place): string => {
  const [journal = "", ...more] = journals(place);
  if (more.length > 0) throw new Error(`more than one journal: ${more}`);
  return idOf(journal);
};

const bodyOf = ({ requests }: ModelServer, index: number) =>
  requests.at(index)?.body as Readonly<Record<string, unknown>> & { readonly messages: readonly unknown[] };

const texts = (server: ModelServer, index = -1): readonly unknown[] => {
  const request = server.requests.at(index);
  return request ? messagesOf(request).map(({ role, content }) => [role, content]) : [];
};

/** A place with a strict server, and one session in it. */
const begun = async (
  answers: readonly Answer[] = [toolCalls([bash("echo one")]), DONE],
  ...flags: readonly string[]
) => {
  const place = newPlace();
  const strict = strictly((_, count) => answers[Math.min(count, answers.length) - 1] ?? DONE);
  const server = await modelServer(strict.answer);
  const options = { place, env: openAIEnv(server) };
  const first = await run(options, ...flags, "first task");
  expect([first.stderr, first.exitCode]).toEqual(["", 0]);
  return { place, server, strict, options };
};

test("-c goes on where the session was: same prefix, numbers that rise, one journal, figures that add up", async () => {
  const { place, server, options } = await begun();
  const before = bodyOf(server, -1).messages;
  const ended = await run(options, "-c", "--output-format", "events", "next task");
  expect(ended.exitCode).toBe(0);
  const id = onlyId(place);
  const { messages, ...rest } = bodyOf(server, -1);
  expect(messages.slice(0, before.length)).toEqual(before);
  expect(texts(server).slice(before.length)).toEqual([
    ["assistant", "Done."],
    ["user", "next task"],
  ]);
  const { messages: _, ...restBefore } = bodyOf(server, -2);
  // What differs makes a cache useless.
  expect(rest).toEqual(restBefore);

  const lines = jsonLines(readFileSync(journals(place)[0] ?? "", "utf8"));
  const numbers = lines.flatMap(({ seq }) => (typeof seq === "number" ? [seq] : []));
  expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
  expect(readEvents(ended.stdout).every(({ sessionId, seq }) => sessionId === id && seq > 10)).toBe(true);
  expect(lines.filter(({ type }) => type === "session" || type === "system")).toHaveLength(2);
  expect(lines.findLast(({ type }) => type === "totals")).toMatchObject({ runs: 2, turns: 3, prompt: "first task" });
});

test("the system prompt stays the same bytes, unless another one is asked for", async () => {
  const place = newPlace();
  put(place.workDir, "AGENTS.md", "Use tabs.");
  const server = await modelServer([DONE]);
  const options = { place, env: openAIEnv(server) };
  await run(options, "one");
  put(place.workDir, "AGENTS.md", "Use spaces.");
  await run(options, "-c", "two");
  const [first, second] = [texts(server, 0)[0], texts(server, 1)[0]];
  expect(second).toEqual(first);
  expect(JSON.stringify(first)).toContain("Use tabs.");
  await run(options, "-c", "--system-prompt", "Be brief.", "three");
  await run(options, "-c", "four");
  expect(texts(server, 2)[0]).toEqual(["system", expect.stringMatching(/^Be brief\.[\s\S]*Use spaces\.$/)]);
  expect(texts(server, 3)[0]).toEqual(texts(server, 2)[0]);
});

test("there must be one to go on with: exit 2 says so", async () => {
  const place = newPlace();
  const server = await modelServer([DONE]);
  const options = { place, env: openAIEnv(server) };
  const { exitCode, stdout } = await run(options, "-c", "--output-format", "json", "next");
  expect([exitCode, stdout, server.requests.length]).toEqual([
    2,
    expect.stringContaining("no session to go on with"),
    0,
  ]);
});

test.each([
  [["-c", "--session", "last"], "only one of --continue and --session"],
  [["--fork"], "--fork needs"],
  [["-r"], "--session"],
  [["--session"], "--session"],
])("%j is a usage error", async (flags, words) => {
  const place = newPlace();
  const ended = await runProgram(["run", "a task", ...flags], { place });
  expect([ended.exitCode, ended.stderr]).toEqual([2, expect.stringContaining(words)]);
});

test("--session takes a shortened id, names near ones, and refuses what is none", async () => {
  const { place, server, options } = await begun();
  const id = onlyId(place);
  expect((await run(options, "--session", id.slice(-4), "next")).exitCode).toBe(0);
  expect(texts(server).at(-1)).toEqual(["user", "next"]);
  const near = `${id.slice(0, -1)}${id.endsWith("a") ? "b" : "a"}`;
  const wrong = await run(options, "--session", near, "next");
  expect([wrong.exitCode, wrong.stderr]).toEqual([42, expect.stringContaining(id)]);
  const outside = await run(options, "--session", "../../x", "next");
  expect([outside.exitCode, journals(place).length]).toEqual([42, 1]);
});

test("--fork goes on as another session and leaves the first as it is", async () => {
  const { place, server, options } = await begun();
  const [first = ""] = journals(place);
  const before = readFileSync(first, "utf8");
  const forked = await run(options, "-c", "--fork", "--output-format", "events", "another way");
  expect(forked.exitCode).toBe(0);
  expect(readFileSync(first, "utf8")).toBe(before);
  const [second = ""] = journals(place).filter((path) => path !== first);
  expect(texts(server).at(-1)).toEqual(["user", "another way"]);
  const [header] = jsonLines(readFileSync(second, "utf8"));
  expect(header).toMatchObject({ type: "session", id: idOf(second), forkOf: idOf(first) });
  expect(readEvents(forked.stdout).every(({ sessionId }) => sessionId === idOf(second))).toBe(true);

  // It stands for itself.
  await runProgram(["sessions", "rm", idOf(first)], options);
  expect((await run(options, "--session", idOf(second), "more")).exitCode).toBe(0);
  expect(texts(server).map((message) => (message as unknown[])[1])).toContain("first task");
});

test("--no-session reads the session and writes nothing to it", async () => {
  const { place, server, options } = await begun();
  const [journal = ""] = journals(place);
  const before = readFileSync(journal, "utf8");
  const outputs = put(sessionFolder(place), `${idOf(journal)}.outputs/call_1.txt`, "long");
  for (const flags of [["-c"], ["--session", idOf(journal)]]) {
    expect((await run(options, ...flags, "--no-session", "and now")).exitCode).toBe(0);
    expect(texts(server).at(-1)).toEqual(["user", "and now"]);
    expect([readFileSync(journal, "utf8"), journals(place).length, existsSync(outputs)]).toEqual([before, 1, true]);
  }
});

test("a session that another process has is refused with who has it; -c takes the next, --fork goes beside it", async () => {
  const place = newPlace();
  const server = await modelServer((_, count) => (count === 2 ? { chunks: [], end: "open" } : DONE));
  const options = { place, env: openAIEnv(server) };
  await run(options, "older");
  const older = onlyId(place);
  const running = startProgram(["run", "--verbose", "newer"], options);
  await expect.poll(() => server.requests.length).toBe(2);
  const newer =
    journals(place)
      .map(idOf)
      .find((id) => id !== older) ?? "";
  const refused = await run(options, "--session", newer, "x");
  expect([refused.exitCode, refused.stderr]).toEqual([
    1,
    expect.stringMatching(new RegExp(`process ${running.pid} [^!]*--fork`)),
  ]);
  expect((await run(options, "-c", "x")).exitCode).toBe(0);
  expect(texts(server).slice(1)).toEqual([
    ["user", "older"],
    ["assistant", "Done."],
    ["user", "x"],
  ]);
  expect((await run(options, "--session", newer, "--fork", "y")).exitCode).toBe(0);
  expect(JSON.stringify(texts(server))).toContain("newer");
  expect(journals(place).map(idOf)).toEqual(expect.arrayContaining([older, newer]));
});

test("of two processes at once, one goes on", async () => {
  const { place, server, options } = await begun();
  const id = onlyId(place);
  const both = await Promise.all([run(options, "--session", id, "one"), run(options, "--session", id, "two")]);
  const codes = both.map(({ exitCode }) => exitCode).sort();
  expect([
    [0, 0],
    [0, 1],
  ]).toContainEqual(codes);
  expect((await run(options, "-c", "three")).exitCode).toBe(0);
  expect(server.requests.length).toBe(2 + codes.filter((code) => code === 0).length + 1);
});

test("-c of several processes at once takes a session each, the next free one, and is refused where none is left", async () => {
  const place = newPlace();
  let isHeld = false;
  const server = await modelServer(() => (isHeld ? { chunks: [], end: "open" } : DONE));
  const options = { place, env: openAIEnv(server) };
  for (const task of ["one", "two"]) await run(options, task);
  isHeld = true;
  const running = [1, 2, 3, 4].map(() => startProgram(["run", "-c", "next"], options));
  const refused: Ended[] = [];
  for (const { ended } of running) void ended.then((one) => refused.push(one));
  await expect.poll(() => [server.requests.length, refused.length], { timeout: 30_000 }).toEqual([4, 2]);
  for (const { exitCode, stderr } of refused)
    expect([exitCode, stderr]).toEqual([2, expect.stringMatching(/is in use; --fork/)]);
  expect([2, 3].map((index) => texts(server, index)[1]).sort()).toEqual([
    ["user", "one"],
    ["user", "two"],
  ]);
  for (const { child } of running) child.kill("SIGKILL");
});

test("--session last goes on with the session that was begun last", async () => {
  const place = newPlace();
  const server = await modelServer([DONE]);
  const options = { place, env: openAIEnv(server) };
  expect((await run(options, "--session", "last", "x")).exitCode).toBe(2);
  await run(options, "older");
  const [journal = ""] = journals(place);
  const earlier = join(sessionFolder(place), "20200101-000000-aaaa.jsonl");
  renameSync(journal, earlier);
  await run(options, "newer");
  // Worked in last, and not begun last.
  await run(options, "--session", "aaaa", "again");
  expect((await run(options, "--session", "last", "next")).exitCode).toBe(0);
  expect(texts(server)[1]).toEqual(["user", "newer"]);
});

test("what was torn or damaged is told of once, and again only where there is more", async () => {
  const { place, options } = await begun();
  const [journal = ""] = journals(place);
  const told = async (): Promise<string> => (await run(options, "-c", "next")).stderr;
  appendFileSync(journal, '{"type":"usage.upd');
  expect(await told()).toContain(`${journal}: skipped 1 line that cannot be understood`);
  expect(await told()).toBe("");
  expect(await told()).toBe("");
  appendFileSync(journal, "what is this\n");
  expect(await told()).toContain(`${journal}: skipped 1 line that cannot be understood`);
  expect(await told()).toBe("");
});

test("a fork may read the long outputs of the sessions that it goes back to, and no others", async () => {
  const place = newPlace();
  const server = await modelServer((request, count) => {
    const [last] = messagesOf(request).slice(-1);
    if (count === 1) return toolCalls([bash("seq 1 9000")]);
    if (last?.role !== "user") return DONE;
    return toolCalls([["read_file", { path: String(last.content), limit: 1 }]]);
  });
  const options = { place, env: openAIEnv(server) };
  await run(options, "first");
  const id = onlyId(place);
  const output = join(sessionFolder(place), `${id}.outputs`, "call_1.txt");
  expect(existsSync(output)).toBe(true);
  const reads = async (...flags: readonly string[]): Promise<unknown> => {
    await run(options, ...flags, output);
    return (texts(server).at(-1) as readonly unknown[] | undefined)?.[1];
  };
  expect(await reads("-c", "--fork")).toMatch(/^1\n/);
  // The fork of that fork goes back to both.
  expect(await reads("-c", "--fork")).toMatch(/^1\n/);
  expect(await reads()).toMatch(/outside|protected/);
});

test.runIf(process.getuid?.() === 0)(
  "in a home that is read only a session goes on, and says that it is not kept",
  async () => {
    const place = newPlace();
    chmodSync(join(place.workDir, ".."), 0o755);
    chmodSync(place.workDir, 0o777);
    chmodSync(place.home, 0o777);
    const server = await modelServer([DONE]);
    const uid = 65_534;
    const options = { place, env: openAIEnv(server), uid };
    await runProgram(["run", "first"], options);
    const [journal = ""] = journals(place);
    const before = readFileSync(journal, "utf8");
    for (const path of [join(place.home, ".harness9"), sessionFolder(place), journal]) chownSync(path, 0, 0);
    for (const path of [join(place.home, ".harness9"), sessionFolder(place)]) chmodSync(path, 0o755);
    chmodSync(journal, 0o644);
    const ended = await runProgram(["run", "-c", "next"], options);
    expect([ended.exitCode, ended.stdout]).toEqual([0, "Done.\n"]);
    expect(ended.stderr).toContain(`cannot write the journal ${journal}`);
    expect(texts(server)[1]).toEqual(["user", "first"]);
    expect(readFileSync(journal, "utf8")).toBe(before);
  },
);

test("a session of another folder says which, and how to go there; also when the folder is gone", async () => {
  const { place, server, options } = await begun();
  const id = onlyId(place);
  const other = join(place.home, "other folder");
  mkdirSync(other);
  const away = await run({ ...options, cwd: other }, "--session", id, "x");
  expect([away.exitCode, away.stderr]).toEqual([
    42,
    expect.stringContaining(`harness9 -C ${place.workDir} --session ${id}`),
  ]);
  renameSync(place.workDir, `${place.workDir}-moved`);
  const gone = await run({ ...options, cwd: other }, "--session", id, "x");
  expect([gone.exitCode, gone.stderr]).toEqual([42, expect.stringMatching(/gone[\s\S]*sessions show/)]);
  expect(server.requests.length).toBe(2);
});

test("model, thinking and mode come back, unless a flag or the environment says otherwise", async () => {
  const place = newPlace();
  const server = await modelServer([DONE]);
  const options = { place, env: openAIEnv(server) };
  const started = async (args: readonly string[], env = {}) => {
    const ended = await run({ ...options, env: { ...options.env, ...env } }, "--output-format", "events", ...args, "x");
    const event = readEvents(ended.stdout).find(({ type }) => type === "run.started");
    return event?.type === "run.started" ? [event.model, event.thinking, event.permissionMode] : ended;
  };
  expect(await started(["-m", "chosen", "--thinking", "two-stage", "--permission-mode", "plan"])).toEqual([
    "chosen",
    "two-stage",
    "plan",
  ]);
  expect(await started(["-c"])).toEqual(["chosen", "two-stage", "plan"]);
  expect(await started(["-c", "--fork"], { HARNESS9_MODEL: "other" })).toEqual(["other", "two-stage", "plan"]);
  expect(await started(["-c", "--thinking", "off", "--permission-mode", "ask"])).toEqual(["other", "off", "ask"]);
  expect(await started(["-c", "--yolo"])).toEqual(["other", "off", "yolo"]);
  expect(await started(["-c"])).toEqual(["other", "off", "auto"]);
});

test("a model whose key is gone gives way to the ordinary choice, with a notice", async () => {
  const { place } = await begun();
  const server = await modelServer([anthropicAnswer("Done.")]);
  const ended = await run({ place, env: anthropicEnv(server) }, "-c", "next");
  expect(ended.stderr).toContain("openai/test-model cannot be used now");
  expect(server.requests.at(-1)?.url).toBe("/v1/messages");
  expect(server.requests.length).toBe(1);
});

test("a corrupt line in the middle is skipped and told of; what a newer version wrote is refused", async () => {
  const { place, server, options } = await begun();
  const [journal = ""] = journals(place);
  const lines = readFileSync(journal, "utf8").split("\n");
  const broken = lines.map((line) => (line.includes('"type":"tool.completed"') ? line.slice(0, 40) : line));
  writeFileSync(journal, broken.join("\n"));
  const ended = await run(options, "-c", "next");
  expect([ended.exitCode, ended.stderr]).toEqual([0, expect.stringContaining("skipped 1 line")]);
  expect(texts(server)).toContainEqual(["tool", expect.stringContaining("this call has no result")]);
  writeFileSync(journal, lines.join("\n").replace('"version":1', '"version":99'));
  const newer = await run(options, "-c", "next");
  expect([newer.exitCode, newer.stderr]).toEqual([42, expect.stringContaining("version 99")]);
});

const thinkingAnswer: Answer = {
  chunks: sse(
    { type: "message_start", message: { content: [], usage: { input_tokens: 5, output_tokens: 1 } } },
    { type: "content_block_start", index: 0, content_block: { type: "thinking", thinking: "", signature: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "thinking_delta", thinking: "hm" } },
    { type: "content_block_delta", index: 0, delta: { type: "signature_delta", signature: "s1gn==" } },
    { type: "content_block_start", index: 1, content_block: { type: "text", text: "I look." } },
    { type: "content_block_start", index: 2, content_block: { type: "redacted_thinking", data: "x\u0085y" } },
    {
      type: "content_block_start",
      index: 3,
      content_block: { type: "tool_use", id: "toolu_1", name: "bash", input: { command: "echo hi" } },
    },
    { type: "message_delta", delta: { stop_reason: "tool_use" }, usage: { output_tokens: 15 } },
    { type: "message_stop" },
  ),
};

test("thinking goes back to Anthropic as it came and where it stood, before and after", async () => {
  const place = newPlace();
  const strict = strictly((_, count) => (count === 1 ? thinkingAnswer : anthropicAnswer("Done.")));
  const server = await modelServer(strict.answer);
  const options = { place, env: anthropicEnv(server) };
  await run(options, "--thinking", "native", "look");
  await run(options, "-c", "more");
  const [live, later] = [bodyOf(server, 1), bodyOf(server, 2)];
  const answer = [
    { type: "thinking", thinking: "hm", signature: "s1gn==" },
    { type: "text", text: "I look." },
    { type: "redacted_thinking", data: "x\u0085y" },
    { type: "tool_use", id: "toolu_1", name: "bash", input: { command: "echo hi" } },
  ];
  expect(live.messages[1]).toEqual({ role: "assistant", content: answer });
  // The mark of the cache moves on.
  const unmarked = (body: unknown) => JSON.stringify(body).replaceAll(',"cache_control":{"type":"ephemeral"}', "");
  expect(unmarked(later.messages.slice(0, 3))).toBe(unmarked(live.messages));
  const { messages: _m, ...rest } = live;
  const { messages: _n, ...laterRest } = later;
  expect(laterRest).toEqual(rest);
  expect(strict.problems).toEqual([]);
});

test("an interrupted call is answered once, in the journal too", async () => {
  const place = newPlace();
  const strict = strictly((_, count) => (count === 1 ? toolCalls([bash("echo a"), bash("echo b; sleep 60")]) : DONE));
  const server = await modelServer(strict.answer);
  const options = { place, env: openAIEnv(server) };
  const running = startProgram(["run", "--output-format", "events", "work"], options);
  await running.said('"type":"tool.completed"');
  running.child.kill("SIGKILL");
  await running.ended;
  for (const task of ["two", "three"]) expect((await run(options, "-c", task)).exitCode).toBe(0);
  const [journal = ""] = journals(place);
  const lines = jsonLines(readFileSync(journal, "utf8"));
  const of = (type: string) => lines.filter((line) => line["type"] === type);
  expect([of("tool.completed").length, of("observations.added").length]).toEqual([2, 1]);
  const answered = texts(server).filter((message) => (message as readonly unknown[])[0] === "tool");
  expect(answered).toEqual([
    ["tool", "a\n"],
    ["tool", expect.stringContaining("this call has no result")],
  ]);
  expect(strict.problems).toEqual([]);
});

type Dialect = {
  readonly env: (server: ModelServer) => Readonly<Record<string, string>>;
  readonly work: (count: number) => Answer;
  readonly done: Answer;
};

const commands = ["echo a", "sleep 0.02; echo b", "seq 1 400"];

const DIALECTS: Readonly<Record<string, Dialect>> = {
  openai: { env: openAIEnv, work: (count) => toolCalls(commands.map(bash), `c${count}`), done: DONE },
  anthropic: {
    env: anthropicEnv,
    work: (count) => ({
      chunks: sse(
        { type: "message_start", message: { content: [], usage: { input_tokens: 5, output_tokens: 1 } } },
        ...commands.map((command, index) => ({
          type: "content_block_start",
          index,
          content_block: { type: "tool_use", id: `t${count}_${index}`, name: "bash", input: { command } },
        })),
        { type: "message_delta", delta: { stop_reason: "tool_use" }, usage: { output_tokens: 15 } },
        { type: "message_stop" },
      ),
    }),
    done: anthropicAnswer("Done."),
  },
};

/** More by hand, as in `HARNESS9_TEST_KILLS=100`. */
const KILLS = Number(process.env["HARNESS9_TEST_KILLS"] ?? 8);

test.each(Object.entries(DIALECTS))(
  "killed at any moment of a busy run, a session goes on with a valid history and all that was told: %s",
  { timeout: 30_000 + KILLS * 5_000 },
  async (_, { env, work, done }) => {
    const place = newPlace();
    const strict = strictly((request, count) =>
      JSON.stringify(request.body).includes("be done") ? done : work(count),
    );
    const server = await modelServer(strict.answer);
    const options = { place, env: env(server) };
    const told: { readonly sessionId: string; readonly seq: number }[] = [];
    for (let round = 0; round < KILLS; round += 1) {
      const resumed = round === 0 ? [] : ["-c"];
      const running = startProgram(["run", ...resumed, "--output-format", "events", `work ${round}`], options);
      await running.said('"type":"run.started"');
      await new Promise((resolve) => setTimeout(resolve, (round * 37) % 240));
      running.child.kill("SIGKILL");
      const { stdout } = await running.ended;
      const whole = stdout.slice(0, stdout.lastIndexOf("\n") + 1);
      const isKept = ({ type }: { readonly type: string }) => !/delta$|progress$/.test(type);
      told.push(...readEvents(whole).filter(isKept));
    }
    const last = await run(options, "-c", "--output-format", "json", "be done");
    expect(JSON.parse(last.stdout)).toMatchObject({ is_error: false, result: "Done." });
    expect(strict.problems).toEqual([]);
    expect(journals(place)).toHaveLength(1);
    const lines = readFileSync(journals(place)[0] ?? "", "utf8").split("\n");
    const kept = new Set(lines);
    const missing = told.filter((event) => !kept.has(JSON.stringify(event)));
    expect(missing).toEqual([]);
  },
);
