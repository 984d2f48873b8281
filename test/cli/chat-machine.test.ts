import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createChat } from "../../src/cli/chat-machine.ts";
import type { RunOptions } from "../../src/cli/program.ts";
import { prepare } from "../../src/cli/setup.ts";
import type { Ask } from "../../src/schema/ask.ts";
import type { EngineEvent } from "../../src/schema/event.ts";
import type { Chat } from "../../src/session/chat.ts";
import { type Answer, type ModelServer, modelServer, openAIAnswer } from "../helpers/model-server.ts";
import {
  anthropicEnv,
  bash,
  KEY,
  newPlace,
  openAIEnv,
  type Place,
  put,
  sessionFolder,
  toolCalls,
} from "../helpers/program.ts";

const SIGNAL = new AbortController().signal;
// Port 9 is closed: no local server of this machine plays along.
const NO_SERVERS = Object.fromEntries(
  ["OLLAMA", "LMSTUDIO", "LLAMACPP", "VLLM"].map((name) => [`${name}_BASE_URL`, "http://127.0.0.1:9/v1"]),
);

type Started = { readonly chat: Chat; readonly place: Place; readonly told: readonly string[] };

const start = async (
  env: Readonly<Record<string, string>> = {},
  options: Partial<RunOptions> = {},
  { place = newPlace(), ask }: { readonly place?: Place; readonly ask?: Ask } = {},
): Promise<Started> => {
  const surroundings = {
    env: { PATH: process.env["PATH"], HOME: place.home, ...NO_SERVERS, ...env },
    cwd: place.workDir,
    homeDir: place.home,
  };
  const run: RunOptions = { guard: true, session: true, outputFormat: "text", ...options };
  const told: string[] = [];
  const tell = (text: string): void => void told.push(text);
  const refuse: Ask = async () => ({ dismissed: true });
  const chat = await createChat(await prepare(surroundings, run), { run, version: "1.2.3", tell }, ask ?? refuse);
  onTestFinished(async () => void (await chat.close()));
  return { chat, place, told };
};

const send = async (chat: Chat, content: string): Promise<readonly EngineEvent[]> => {
  const events: EngineEvent[] = [];
  for await (const event of chat.session().run({ content, source: "person" }, SIGNAL)) events.push(event);
  return events;
};

const shell = async (chat: Chat, command: string): Promise<readonly EngineEvent[]> => {
  const events: EngineEvent[] = [];
  await chat.runShell(command, SIGNAL, (event) => events.push(event));
  return events;
};

const outputs = (events: readonly EngineEvent[]): readonly string[] =>
  events.flatMap((event) => (event.type === "tool.completed" ? [event.result.output] : []));

/** The model that each request names. */
const models = ({ requests }: ModelServer): readonly unknown[] =>
  requests.map(({ body }) => (body as { readonly model?: unknown }).model);

/** What the newest request says, one text a message. */
const lastMessages = ({ requests }: ModelServer): readonly unknown[] => {
  const body = requests.at(-1)?.body as { readonly messages?: readonly { readonly content: unknown }[] } | undefined;
  return (body?.messages ?? []).map(({ content }) => content);
};

const DONE = openAIAnswer("Done.");

/** A server that calls the tools once and then is done. */
const calling = (calls: Answer): Promise<ModelServer> => modelServer([calls, DONE]);

test("without a key the demonstration is there, and what would connect a model is named", async () => {
  const { chat, place } = await start();
  const { sessionId, logFile, keyVariables, ...info } = chat.info();
  expect(info).toEqual({
    version: "1.2.3",
    isKept: true,
    workDir: place.workDir,
    homeDir: place.home,
    provider: "offline",
    model: "offline demonstration (no model)",
    isOffline: true,
    contextWindow: null,
    prices: null,
    mode: "ask",
    modes: ["ask", "auto-edit", "plan"],
    thinking: "off",
    notes: [],
    warnings: [],
  });
  expect(keyVariables.slice(0, 2)).toEqual(["ANTHROPIC_API_KEY", "OPENAI_API_KEY"]);
  expect(basename(logFile ?? "")).toBe(`${sessionId}.log`);
  expect((await send(chat, "hello")).at(-1)).toMatchObject({ type: "run.completed", reason: "completed" });
});

test.each([
  ["a model without its key", { model: "deepseek/deepseek-v4-pro" }, {}, 41],
  ["an unknown provider", { provider: "nobody" }, {}, 52],
  ["a sandbox that is required", {}, { HARNESS9_SANDBOX: "require", PATH: "/nowhere" }, 52],
] as const)("the chat does not start with %s", async (_, options, env, exitCode) => {
  await expect(start(env, options)).rejects.toMatchObject({ exitCode });
});

test.each(["ask", "auto-edit", "plan", "auto", "yolo"] as const)("it starts in the mode %s", async (mode) => {
  const { chat } = await start({}, { permissionMode: mode });
  expect(chat.info().mode).toBe(mode);
  expect(chat.info().modes.includes("yolo")).toBe(mode === "yolo");
});

test("another mode counts from the next call on, and yolo stays among the modes once it was set", async () => {
  const asked: string[] = [];
  const ask: Ask = async (question) => {
    asked.push(question.kind === "permission" ? question.arguments : "");
    chatAtWork().setMode("yolo");
    return { decision: "allow", scope: "once" };
  };
  const server = await calling(toolCalls([bash("touch one"), bash("touch two")]));
  const { chat, place } = await start(openAIEnv(server), {}, { ask });
  const chatAtWork = (): Chat => chat;
  await send(chat, "go");
  expect(asked).toEqual(['{"command":"touch one"}']);
  expect(readdirSync(place.workDir).sort()).toEqual(["one", "two"]);
  chat.setMode("ask");
  expect(chat.info()).toMatchObject({ mode: "ask", modes: ["ask", "auto-edit", "plan", "yolo"] });
});

test("another model goes on with the conversation", async () => {
  const first = await modelServer([DONE]);
  const second = await modelServer([{ status: 400, chunks: ["{}"] }]);
  const { chat } = await start({ ...openAIEnv(first), ...anthropicEnv(second) }, { provider: "openai" });
  expect(chat.info().model).toBe("openai/test-model");
  await send(chat, "hello");
  await chat.useModel("gpt-5.4");
  expect(chat.info()).toMatchObject({ model: "openai/gpt-5.4", contextWindow: 1_050_000 });
  await send(chat, "again");
  expect(models(first)).toEqual(["test-model", "gpt-5.4"]);
  expect(lastMessages(first).slice(1)).toEqual(["hello", "Done.", "again"]);
  await chat.useModel("anthropic/other-model");
  const events = await send(chat, "and now");
  expect(models(second)).toEqual(["other-model"]);
  expect(events[0]).toMatchObject({ type: "run.started", provider: "anthropic", model: "other-model" });
});

test.each([
  ["openai/gpt-5.4", "openai/gpt-5.4"],
  ["some-model", "openai/some-model"],
  ["anthropic", "anthropic/test-model"],
  // A gateway may know any model.
  ["claude-opus-4-8", "openai/claude-opus-4-8"],
  ["offline", "offline demonstration (no model)"],
])("the model %s is %s", async (name, model) => {
  const server = await modelServer([DONE]);
  const { chat } = await start({ ...openAIEnv(server), ...anthropicEnv(server) }, { provider: "openai" });
  await chat.useModel(name);
  expect(chat.info().model).toBe(model);
});

test("at a vendor's own address another vendor's model is looked for at that vendor", async () => {
  const { chat } = await start({ OPENAI_API_KEY: KEY, ANTHROPIC_API_KEY: KEY }, { provider: "openai" });
  await chat.useModel("claude-opus-4-8");
  expect(chat.info().model).toBe("anthropic/claude-opus-4-8");
});

test("a model that cannot be used leaves everything as it was", async () => {
  const server = await modelServer([DONE]);
  const { chat } = await start(openAIEnv(server));
  const before = chat.info();
  await expect(chat.useModel("deepseek/deepseek-v4-pro")).rejects.toMatchObject({ exitCode: 41 });
  await expect(chat.useModel("opnai/x")).rejects.toMatchObject({ exitCode: 52 });
  expect(chat.info()).toEqual(before);
  await send(chat, "hello");
  expect(models(server)).toEqual(["test-model"]);
});

test("how much one read brings follows the model's window", async () => {
  const server = await modelServer((_, count) =>
    count % 2 === 1 ? toolCalls([["read_file", { path: "long.txt" }]], `call${count}`) : DONE,
  );
  const { chat, place } = await start(openAIEnv(server));
  put(place.workDir, "long.txt", "a line of text\n".repeat(1000));
  const [small = ""] = outputs(await send(chat, "read"));
  await chat.useModel("gpt-5.4");
  const [large = ""] = outputs(await send(chat, "read"));
  expect([small.length < 5000, large.length]).toEqual([true, 15_000]);
});

test("another way of thinking counts from the next run on, and for models to come", async () => {
  const server = await modelServer([DONE]);
  const { chat } = await start(openAIEnv(server));
  await chat.setThinking("two-stage");
  await chat.useModel("other");
  const events = await send(chat, "hello");
  expect(events.flatMap((event) => (event.type === "phase.started" ? [event.phase] : []))).toEqual([
    "thinking",
    "action",
  ]);
  expect([chat.info().thinking, models(server)]).toEqual(["two-stage", ["other", "other"]]);
});

test("the models are those that the endpoint lists, then the default of each provider with a key", async () => {
  const server = await modelServer([{ chunks: ['{"data":[{"id":"gpt-5.4"},{"id":"test-model"}]}'] }]);
  const { chat } = await start({ ...openAIEnv(server), ANTHROPIC_API_KEY: KEY }, { provider: "openai" });
  const listed = await chat.listModels(SIGNAL);
  expect(listed.map(({ provider, id, isCurrent }) => [provider, id, isCurrent])).toEqual([
    ["openai", "gpt-5.4", false],
    ["openai", "test-model", true],
    ["anthropic", "claude-opus-4-8", false],
  ]);
  expect(listed[0]).toMatchObject({ contextWindow: 1_050_000, prices: { input: 2.5 } });
});

test("an endpoint that lists nothing has the model in use", async () => {
  const server = await modelServer([{ status: 404 }]);
  const { chat } = await start(openAIEnv(server));
  expect((await chat.listModels(SIGNAL)).map(({ id }) => id)).toEqual(["test-model"]);
});

test("a key that is given is stored for its owner alone, used at once, and masked at once", async () => {
  const server = await modelServer([DONE]);
  const { OPENAI_API_KEY: _, ...address } = openAIEnv(server);
  const { chat, place } = await start(address, { provider: "offline" });
  expect(chat.loginProviders().find(({ name }) => name === "openai")).toEqual({
    name: "openai",
    keyVariable: "OPENAI_API_KEY",
    hasKey: false,
  });
  const message = await chat.login("openai", " new-key-0123456789 \n");
  const file = join(place.home, ".harness9", ".env");
  expect(message).toBe(`stored OPENAI_API_KEY in ${file}`);
  expect([readFileSync(file, "utf8"), statSync(file).mode & 0o777]).toEqual([
    "OPENAI_API_KEY=new-key-0123456789\n",
    0o600,
  ]);
  expect(chat.info().model).toBe("openai/test-model");
  expect(chat.loginProviders().find(({ name }) => name === "openai")?.hasKey).toBe(true);
  await send(chat, "hello");
  expect(server.requests[0]?.headers.authorization).toBe("Bearer new-key-0123456789");
  expect(outputs(await shell(chat, `cat ${file}; echo "<$OPENAI_API_KEY>"`))).toEqual([
    "OPENAI_API_KEY=[masked OPENAI_API_KEY]\n<>\n",
  ]);
});

test("a key that is given beats the environment's in this chat, and the person is told what comes after", async () => {
  const server = await modelServer([DONE]);
  const { chat } = await start(openAIEnv(server), { model: "openai/chosen" });
  expect(await chat.login("openai", "new-key-0123456789")).toContain("OPENAI_API_KEY in the environment");
  await send(chat, "hello");
  expect(server.requests[0]?.headers.authorization).toBe("Bearer new-key-0123456789");
  expect(models(server)).toEqual(["chosen"]);
  expect(outputs(await shell(chat, `echo ${KEY} new-key-0123456789`))).toEqual([
    "[masked OPENAI_API_KEY#2] [masked OPENAI_API_KEY]\n",
  ]);
});

test.each([
  ["nobody", "new-key-0123456789", 52],
  ["openai", "  ", 42],
  ["openai", "two\nlines", 42],
])("a login that cannot be is refused and changes nothing: %s %j", async (provider, key, exitCode) => {
  const { chat, place } = await start();
  const before = chat.info();
  await expect(chat.login(provider, key)).rejects.toMatchObject({ exitCode });
  expect(chat.info()).toEqual(before);
  expect(existsSync(join(place.home, ".harness9", ".env"))).toBe(false);
});

test("a command of the person's own runs unasked, is told as a call, and the model learns of it", async () => {
  const server = await modelServer([DONE]);
  const { chat } = await start(openAIEnv(server), { permissionMode: "plan" });
  const events = await shell(chat, "echo hi; exit 3");
  expect(events.map(({ type, seq }) => [type, seq])).toEqual([
    ["tool.started", 1],
    ["tool.completed", 2],
  ]);
  expect(events[0]).toMatchObject({ display: "bash echo hi; exit 3", call: { id: "person_1", name: "bash" } });
  expect(events[1]).toMatchObject({ result: { isError: false, data: { type: "command", exitCode: 3 } } });
  await send(chat, "why?");
  expect(lastMessages(server).slice(1).join("\n").split("\n\nReminder from harness9: plan mode is on.")[0]).toBe(
    "I ran this command myself:\necho hi; exit 3\n\nResult:\nCommand failed: exit status 3\nOutput:\nhi\n\n\nwhy?",
  );
  expect(readFileSync(chat.info().logFile ?? "", "utf8")).toContain("工具启动 │ tool=bash id=person_1");
});

test("a command of the person's own can be stopped, and what it had printed is kept", async () => {
  const { chat } = await start();
  const stop = new AbortController();
  const events: EngineEvent[] = [];
  await chat.runShell("echo before; sleep 60", stop.signal, (event) => {
    events.push(event);
    if (event.type === "tool.progress") stop.abort();
  });
  expect(outputs(events)).toEqual([expect.stringContaining("before")]);
  expect(chat.session().messages.at(-1)?.content).toContain("before");
});

test("a new session begins with nothing of the old one, whose background processes end", async () => {
  const server = await modelServer([DONE]);
  const { chat, place } = await start(openAIEnv(server));
  chat.setMode("plan");
  await send(chat, "hello");
  await shell(chat, "(trap 'touch ended; exit' TERM; sleep 60 & wait) >/dev/null 2>&1 &");
  const before = chat.info();
  await chat.clear();
  expect(existsSync(join(place.workDir, "ended"))).toBe(true);
  const { sessionId, logFile, ...after } = chat.info();
  expect(after).toEqual({ ...after, model: before.model, mode: "plan", modes: before.modes });
  expect([sessionId === before.sessionId, logFile === before.logFile]).toEqual([false, false]);
  await send(chat, "anew");
  expect(lastMessages(server).slice(1)).toEqual([
    expect.stringMatching(/^anew\n\nReminder from harness9: plan mode is on/),
  ]);
  expect(chat.session().id).toBe(sessionId);
  const sessions = join(place.home, ".harness9", "sessions");
  const logs = readdirSync(join(sessions, readdirSync(sessions)[0] ?? "")).filter((name) => name.endsWith(".log"));
  expect(logs.sort()).toEqual([`${before.sessionId}.log`, `${sessionId}.log`].sort());
});

test("a setting is kept in the person's file, and a wrong one is refused", async () => {
  const { chat, place } = await start();
  const file = join(place.home, ".harness9", "config.json");
  expect(await chat.saveSetting("theme", "dark")).toBe(file);
  await chat.saveSetting("screenReader", "true");
  expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({ theme: "dark", screenReader: true });
  await expect(chat.saveSetting("theme", "pink")).rejects.toMatchObject({ exitCode: 52 });
  await expect(chat.saveSetting("thme", "dark")).rejects.toMatchObject({ exitCode: 52 });
  expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({ theme: "dark", screenReader: true });
});

test("where nothing can be written a person is told, and the chat goes on", async () => {
  const place = newPlace();
  put(place.home, ".harness9", "a file where the folder should be");
  const { chat } = await start({}, {}, { place });
  expect(chat.info()).toMatchObject({
    logFile: null,
    warnings: [expect.stringContaining("keeps no log"), expect.stringContaining("cannot write the journal")],
  });
  for (const attempt of [
    () => chat.login("openai", "new-key-0123456789"),
    () => chat.saveSetting("theme", "dark"),
    () => chat.exportMarkdown("missing/talk.md"),
  ])
    await expect(attempt()).rejects.toMatchObject({ name: "UserError", exitCode: 1 });
  expect(readdirSync(place.workDir)).toEqual([]);
});

test("with --config that file is the one that is written", async () => {
  const place = newPlace();
  const file = put(place.home, "other.json", '{"glyphs": "ascii"}');
  const { chat } = await start({ HARNESS9_SHOW_THINKING: "true" }, { config: file }, { place });
  expect(await chat.saveSetting("theme", "none")).toBe(file);
  expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({ glyphs: "ascii", theme: "none" });
});

test("rules come with their origin, the refusing ones first, and tools with their names", async () => {
  const place = newPlace();
  const file = put(place.home, ".harness9/config.json", '{"ask": ["edit_file"]}');
  const { chat } = await start({}, { allow: ["bash(npm test)"], deny: ["bash(rm:*)"] }, { place });
  expect(chat.rules()).toEqual([
    { list: "deny", rule: "bash(rm:*)", origin: "flag" },
    { list: "ask", rule: "edit_file", origin: `${file}:1` },
    { list: "allow", rule: "bash(npm test)", origin: "flag" },
  ]);
  expect(chat.tools().map(({ name }) => name)).toEqual([
    "read_file",
    "write_file",
    "edit_file",
    "bash",
    "memory_read",
    "memory_write",
  ]);
});

test("the conversation can be written down, never over a file", async () => {
  const { chat, place } = await start();
  await send(chat, "hello");
  const paths = [await chat.exportMarkdown(), await chat.exportMarkdown(), await chat.exportMarkdown("talk.md")];
  const { sessionId } = chat.info();
  expect(paths.map((path) => path.slice(place.workDir.length + 1))).toEqual([
    `harness9-${sessionId}.md`,
    `harness9-${sessionId}-1.md`,
    "talk.md",
  ]);
  expect(readFileSync(paths[0] ?? "", "utf8")).toContain("## You\n\nhello\n\n## Model\n\n");
});

test("files, the doctor and the editor are within reach", async () => {
  const { chat, place } = await start({ EDITOR: "echo changed >" });
  put(place.workDir, "src/a.ts", "");
  expect(await chat.listFiles(SIGNAL)).toEqual(["src/", "src/a.ts"]);
  expect((await chat.doctor())[0]).toBe("✓ harness9: 1.2.3");
  expect(await chat.editText("text", new AbortController().signal)).toBe("changed");
});

test("a system prompt of the command line and its addition are used, also after a new session", async () => {
  const server = await modelServer([DONE]);
  const { chat } = await start(openAIEnv(server), { systemPrompt: "Be brief.", appendSystemPrompt: "Be kind." });
  await chat.clear();
  expect(chat.session().messages).toEqual([{ role: "system", content: "Be brief.\n\nBe kind." }]);
});

test("what was sent is there in the next chat", async () => {
  const { chat, place } = await start();
  expect(await chat.history.load()).toEqual({ entries: [] });
  expect([await chat.history.append("one\nline"), await chat.history.append("two")]).toEqual([undefined, undefined]);
  const { chat: next } = await start({}, {}, { place });
  expect(await next.history.load()).toEqual({ entries: ["one\nline", "two"] });
});

// A device that is always full; only Linux has it.
test.skipIf(!existsSync("/dev/full"))("a log that can no longer be written is told of, not printed", async () => {
  const { chat, told } = await start({}, { logFile: "/dev/full" });
  await send(chat, "hello");
  expect(told).toEqual([expect.stringContaining("/dev/full")]);
});

test("the end says how many commands still ran", async () => {
  const { chat } = await start();
  await shell(chat, "sleep 60 >/dev/null 2>&1 &");
  expect(await chat.close()).toBe(1);
});

/** A person who saves the offered rule for a scope, and the questions that came. */
const saving = (scope: "session" | "project" | "user") => {
  const questions: string[] = [];
  const ask: Ask = async (question) => {
    if (question.kind !== "permission") return { dismissed: true };
    questions.push(question.arguments);
    const rule = question.offers[0]?.rule;
    return { decision: "allow", scope, ...(rule !== undefined && { rule }) };
  };
  return { ask, questions };
};

test.each([
  ["session", 2],
  ["project", 1],
  ["user", 1],
] as const)("a rule saved for the %s counts at once; %d questions with a new session", async (scope, asked) => {
  const server = await modelServer((_request, count) => (count % 2 === 1 ? toolCalls([bash("touch a")]) : DONE));
  const { ask, questions } = saving(scope);
  const { chat } = await start(openAIEnv(server), {}, { ask });
  const events = await send(chat, "go");
  expect(events.filter(({ type }) => type === "permission.resolved")).toMatchObject([
    { decision: "allow", scope, by: "person", rule: "bash(touch a)" },
  ]);
  await send(chat, "go");
  expect(questions).toHaveLength(1);
  await chat.clear();
  await send(chat, "go");
  expect(questions).toHaveLength(asked);
});

test("a saved rule is listed with its file", async () => {
  const server = await calling(toolCalls([bash("touch a")]));
  const { chat, place } = await start(openAIEnv(server), {}, { ask: saving("project").ask });
  await send(chat, "go");
  const origin = `${join(place.home, ".harness9", "trust.json")}:2`;
  expect(chat.rules()).toEqual([{ list: "allow", rule: "bash(touch a)", origin, saved: "project" }]);
  const later = await start(openAIEnv(server), {}, { place });
  expect(later.chat.rules()).toEqual(chat.rules());
});

test.each(["session", "project", "user"] as const)(
  "a rule that was saved for the %s and is taken back counts no more, and asks again at once",
  async (scope) => {
    const server = await modelServer((_request, count) => (count % 2 === 1 ? toolCalls([bash("touch a")]) : DONE));
    const { ask, questions } = saving(scope);
    const { chat, place } = await start(openAIEnv(server), {}, { ask });
    await send(chat, "go");
    await send(chat, "go");
    expect(questions).toHaveLength(1);
    const [rule, ...more] = chat.rules();
    expect([rule?.rule, rule?.saved, more]).toEqual(["bash(touch a)", scope, []]);
    expect((await chat.explainCommand("touch a"))[0]).toBe("ask: allow (rule allow bash(touch a))");
    if (rule) await chat.takeBackRule(rule);
    expect(chat.rules()).toEqual([]);
    expect((await chat.explainCommand("touch a"))[0]).toBe("ask: ask (mode ask: running a command)");
    await send(chat, "go");
    // Saved again, it counts again.
    await send(chat, "go");
    expect(questions).toHaveLength(2);
    const later = await start(openAIEnv(server), {}, { place });
    expect(later.chat.rules()).toHaveLength(scope === "session" ? 0 : 1);
  },
);

test("taking one rule back leaves the same one of the command line", async () => {
  const place = newPlace();
  const file = put(place.home, ".harness9/config.json", '{"allow": ["bash(touch a)"]}');
  const { chat } = await start({}, { allow: ["bash(touch a)"] }, { place });
  const saved = chat.rules().find((one) => one.saved !== undefined);
  expect(saved).toEqual({ list: "allow", rule: "bash(touch a)", origin: `${file}:1`, saved: "user" });
  if (saved) await chat.takeBackRule(saved);
  expect(chat.rules()).toEqual([{ list: "allow", rule: "bash(touch a)", origin: "flag" }]);
  expect((await chat.explainCommand("touch a"))[0]).toContain("allow");
  expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({ allow: [] });
});

test("settings that change while it runs do not change what may run", async () => {
  const server = await modelServer((_request, count) => (count % 2 === 1 ? toolCalls([bash("touch a")]) : DONE));
  const questions: string[] = [];
  const ask: Ask = async (question) => {
    if (question.kind === "permission") questions.push(question.name);
    return { dismissed: true };
  };
  const { chat, place } = await start(openAIEnv(server), { trust: true }, { ask });
  const allow = JSON.stringify({ allow: ["bash"], permissionMode: "yolo" });
  put(place.workDir, ".harness9/settings.json", allow);
  put(place.home, ".harness9/config.json", allow);
  put(place.home, ".harness9/trust.json", JSON.stringify({ [place.workDir]: { trusted: true, allow: ["bash"] } }));
  await send(chat, "go");
  await chat.clear();
  await send(chat, "go");
  expect(questions).toEqual(["bash", "bash"]);
  expect([chat.info().mode, chat.rules()]).toEqual(["ask", []]);
});

test("our settings and the trust list are out of the tools' reach in the freest mode, also with our home in the work directory", async () => {
  const before = newPlace();
  const place = { home: before.workDir, workDir: before.workDir };
  const paths = [
    ".harness9/settings.json",
    ".harness9/settings.local.json",
    ".harness9/config.json",
    ".harness9/trust.json",
  ];
  for (const path of paths) put(place.workDir, path, "{}");
  const edit = { source_text: "{}", target_text: '{"x": 1}' };
  const server = await modelServer([
    toolCalls(
      paths.flatMap((path) => [
        ["write_file", { path, content: "x" }] as const,
        ["edit_file", { path, ...edit }] as const,
        bash(`echo x > ${path}`),
      ]),
    ),
    DONE,
  ]);
  const { chat } = await start(openAIEnv(server), { yolo: true }, { place });
  const refused = outputs(await send(chat, "go"));
  expect(refused).toHaveLength(paths.length * 3);
  for (const output of refused) expect(output).toMatch(/protected|sensitive|rejected by the user/);
  expect(paths.map((path) => readFileSync(join(place.workDir, path), "utf8"))).toEqual(paths.map(() => "{}"));
});

test("a mode that changes after a run has begun is in the journal, and a chat in which nothing happened leaves none", async () => {
  const server = await modelServer([DONE]);
  const { chat, place } = await start(openAIEnv(server), { permissionMode: "ask" });
  chat.setMode("auto-edit");
  await send(chat, "hello");
  chat.setMode("ask");
  const lines = readFileSync(join(sessionFolder(place), `${chat.session().id}.jsonl`), "utf8")
    .trimEnd()
    .split("\n");
  const entries = lines.map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
  expect(
    entries.flatMap(({ type, mode, permissionMode }) =>
      mode || permissionMode ? [[type, mode ?? permissionMode]] : [],
    ),
  ).toEqual([
    ["run.started", "auto-edit"],
    ["mode", "ask"],
  ]);
  await chat.clear();
  await chat.close();
  expect(readdirSync(sessionFolder(place)).filter((name) => !name.endsWith(".log"))).toHaveLength(1);
});
