import { describe, expect, test } from "vitest";
import type { Answer, Question } from "../../../src/schema/ask.ts";
import type { PermissionMode } from "../../../src/schema/event.ts";
import { NO_USAGE } from "../../../src/schema/model.ts";
import type { Chat, ListedRule } from "../../../src/session/chat.ts";
import { en } from "../../../src/text/en.ts";
import { UserError } from "../../../src/text/user-error.ts";
import { type CommandContext, runCommand } from "../../../src/ui/commands/run-command.ts";
import { UNICODE_GLYPHS } from "../../../src/ui/glyphs.ts";
import { type Line, lineWidth, plainText } from "../../../src/ui/line.ts";
import type { FinishedStep } from "../../../src/ui/transcript/step-lines.ts";
import { NEW_TRANSCRIPT, type Transcript } from "../../../src/ui/transcript/transcript.ts";
import { chatInfo } from "../../helpers/live-region.ts";

type Options = {
  readonly answers?: readonly Answer[];
  readonly isBusy?: boolean;
  readonly transcript?: Transcript;
  readonly chat?: Partial<Chat>;
  readonly width?: number;
};

/** A chat that notes what it is asked to do. */
const open = ({ answers = [], isBusy = false, transcript = NEW_TRANSCRIPT, chat = {}, width = 80 }: Options = {}) => {
  const done: string[] = [];
  const lines: Line[] = [];
  const questions: Question[] = [];
  let shown = false;
  let info = chatInfo();
  const waiting = [...answers];
  const machine = {
    info: () => info,
    session: () => ({ messages: [{ role: "assistant", content: "a\x1b[1m 你好", toolCalls: [] }] }),
    setMode: (mode: PermissionMode) => {
      done.push(`setMode ${mode}`);
      info = chatInfo({ mode });
    },
    setThinking: async (mode: string) => void done.push(`setThinking ${mode}`),
    useModel: async (name: string) => {
      done.push(`useModel ${name}`);
      info = chatInfo({ model: name });
    },
    listModels: async () => [
      { provider: "openai", id: "gpt", contextWindow: 128_000, prices: null, isCurrent: true },
      { provider: "ollama", id: "llama", contextWindow: null, prices: null, isCurrent: false },
    ],
    loginProviders: () => [{ name: "openai", keyVariable: "OPENAI_API_KEY", hasKey: true }],
    login: async (provider: string, key: string) => {
      done.push(`login ${provider} ${key}`);
      return "stored";
    },
    saveSetting: async (key: string, value: unknown) => {
      done.push(`saveSetting ${key} ${String(value)}`);
      return "settings.json";
    },
    clear: async () => void done.push("clear"),
    listSessions: async () => [
      {
        id: "20260102-030405-abcd",
        prompt: "fix \x1b[31mit",
        usage: { ...NO_USAGE, inputTokens: 900, outputTokens: 99 },
        costUsd: 0.5,
        ageMs: 3 * 3_600_000,
      },
      {
        id: "20260101-030405-abcd",
        prompt: "look",
        usage: { ...NO_USAGE, inputTokens: 12_000, cacheReadTokens: 600 },
        costUsd: null,
        ageMs: 59_000,
      },
    ],
    resume: async (id: string) => {
      done.push(`resume ${id}`);
      return id === "gone" ? ["the model is gone"] : [];
    },
    budget: () => [],
    skills: {
      list: () => [{ name: "ship-it", description: "ships", origin: "user", shown: "~/s" }],
      skipped: () => [],
      message: (name: string, words: string) => `${name}: ${words}`,
    },
    rules: () => [{ list: "allow", rule: "bash(ls:*)", origin: "flag" }],
    isTrusted: () => null,
    explainCommand: async (command: string) => [`ask: allow (${command})`],
    takeBackRule: async ({ rule }: ListedRule) => void done.push(`takeBackRule ${rule}`),
    tools: () => [{ name: "bash", description: "Runs a command. At length.\nMore", inputSchema: {} }],
    exportMarkdown: async (path?: string) => {
      done.push(`export ${path ?? "-"}`);
      return path ?? "chat.md";
    },
    doctor: async () => ["all is well"],
    ...chat,
  } as unknown as Chat;
  const context: CommandContext = {
    chat: machine,
    transcript: () => transcript,
    isBusy: () => isBusy,
    width: () => width,
    glyphs: UNICODE_GLYPHS,
    strings: en,
    keyRows: [],
    say: (said) => lines.push(...said),
    choose: async (question) => {
      questions.push(question);
      return waiting.shift() ?? { dismissed: true };
    },
    copy: (text) => done.push(`copy ${text}`),
    submit: (text) => done.push(`submit ${text}`),
    edit: async ({ text, name }) => {
      done.push(`edit ${name}`);
      return `${text}!`;
    },
    settle: ({ contextTokens }) => done.push(`settle ${contextTokens}`),
    putBack: (text) => done.push(`putBack ${text}`),
    restart: () => done.push("restart"),
    showPast: () => done.push("showPast"),
    setTheme: (name) => done.push(`setTheme ${name}`),
    showThinking: {
      get: () => shown,
      set: (next) => {
        shown = next;
      },
    },
    refresh: () => done.push("refresh"),
    work: (task) => task(new AbortController().signal),
    take: ({ type }) => done.push(`take ${type}`),
    changeText: async () => undefined,
    leave: () => done.push("leave"),
    signal: new AbortController().signal,
  };
  const run = async (name: string, argument = ""): Promise<void> => runCommand({ name, argument }, context);
  const said = (): string => lines.map((line) => plainText(line).trimEnd()).join("\n");
  return { run, done, said, lines, questions };
};

const step = (number: number, output = "one\ntwo\nthree\nfour\nfive"): FinishedStep => ({
  number,
  name: "bash",
  arguments: JSON.stringify({ command: "ls" }),
  result: { output, isError: false },
  durationMs: 3,
});
const { replies } = en;

describe("a command", () => {
  test("offers the sessions by age, turns, cost and first words, with nothing that drives a terminal", async () => {
    const chat = open();
    await chat.run("resume");
    expect(chat.questions).toEqual([
      {
        kind: "choice",
        title: en.sessions.chooseSession,
        options: [
          { id: "20260102-030405-abcd", label: " 3 h    999 tokens  $0.500  fix \\u{1b}[31mit" },
          { id: "20260101-030405-abcd", label: " 0 m  12.6k tokens  look" },
        ],
      },
    ]);
  });

  test.each<readonly [string, string, Options, readonly string[], string]>([
    ["model", "openai/gpt-9", {}, ["useModel openai/gpt-9", "refresh"], `! ${replies.modelNow("openai/gpt-9")}`],
    [
      "model",
      "",
      { answers: [{ choice: "ollama/llama" }] },
      ["useModel ollama/llama", "refresh"],
      `! ${replies.modelNow("ollama/llama")}`,
    ],
    ["model", "", {}, [], ""],
    ["clear", "", {}, ["clear", "restart"], `! ${replies.cleared}`],
    ["new", "", {}, ["clear", "restart"], `! ${replies.cleared}`],
    ["resume", "abcd", {}, ["resume abcd", "restart", "refresh", "showPast"], ""],
    ["resume", "", { answers: [{ choice: "abcd" }] }, ["resume abcd", "restart", "refresh", "showPast"], ""],
    ["resume", "gone", {}, ["resume gone", "restart", "refresh", "showPast"], "! the model is gone"],
    ["resume", "", {}, [], ""],
    ["resume", "", { chat: { listSessions: async () => [] } }, [], `! ${en.sessions.nothingToContinue}`],
    ["resume", "abcd", { isBusy: true }, [], `! ${replies.clearWhileBusy}`],
    ["clear", "", { isBusy: true }, [], `! ${replies.clearWhileBusy}`],
    [
      "permissions",
      "plan",
      {},
      ["setMode plan", "refresh"],
      `! ${replies.modes.plan}\n  ${replies.rules}:\n  allow bash(ls:*)  (flag)`,
    ],
    [
      "permissions",
      "nonsense",
      {},
      [],
      `! ${replies.unknownChoice("nonsense", ["ask", "auto-edit", "plan", "auto", "yolo"])}`,
    ],
    ["permissions", "explain git push", {}, [], "! ask: allow (git push)"],
    ["permissions", "explain", {}, [], `! ${replies.explainNeedsCommand}`],
    ["permissions", "yolo", {}, [], ""],
    ["permissions", "yolo", { answers: [{ choice: "no" }] }, [], ""],
    ["thinking", "two-stage", {}, ["setThinking two-stage", "refresh"], `! ${replies.thinkingNow("off", false)}`],
    ["thinking", "show", {}, ["saveSetting showThinking true", "refresh"], `! ${replies.thinkingNow("off", true)}`],
    [
      "theme",
      "light",
      {},
      ["setTheme light", "saveSetting theme light"],
      `! ${replies.themeNow("light", "settings.json")}`,
    ],
    ["theme", "pink", {}, [], `! ${replies.unknownChoice("pink", ["auto", "dark", "light", "high-contrast", "none"])}`],
    [
      "theme",
      "",
      { answers: [{ choice: "none" }] },
      ["setTheme none", "saveSetting theme none"],
      `! ${replies.themeNow("none", "settings.json")}`,
    ],
    [
      "login",
      "",
      { answers: [{ choice: "openai" }, { text: "sk-1" }] },
      ["login openai sk-1", "refresh"],
      "! stored\n  model: anthropic/claude-opus-4-8",
    ],
    ["login", "openai", { answers: [{ text: "" }] }, [], `! ${replies.keyEmpty}`],
    ["login", "openai", { answers: [{ text: "sk-1 and more" }] }, [], `! ${replies.keyHasSpaces}`],
    ["login", "openai", {}, [], ""],
    ["login", "nobody", {}, [], `! ${replies.unknownChoice("nobody", ["openai"])}`],
    ["export", "", {}, ["export -"], `! ${replies.exported("chat.md")}`],
    ["export", "a.md", {}, ["export a.md"], `! ${replies.exported("a.md")}`],
    ["doctor", "", {}, [], `! ${replies.working}\n! all is well`],
    ["tools", "", {}, [], "! bash         Runs a command"],
    ["show", "", {}, [], `! ${en.ui.noStep}`],
    ["show", "7", {}, [], `! ${replies.noSuchStep("7")}`],
    ["quit", "", {}, ["leave"], ""],
    ["exit", "", {}, ["leave"], ""],
    ["QUIT", "", {}, ["leave"], ""],
    ["mcp", "", {}, [], `! ${en.commands.notYet("/mcp")}`],
    ["modle", "", {}, [], `! ${en.commands.unknown("/modle", ["/model"])}`],
  ])("/%s %s %j", async (name, argument, options, done, said) => {
    const chat = open(options);
    await chat.run(name, argument);
    expect(chat.done).toEqual(done);
    expect(chat.said().replace(/\n {2}(?=[a-z(;])/g, (found) => (said.includes(found) ? found : " "))).toBe(said);
  });

  test("yolo is confirmed once", async () => {
    const chat = open({ answers: [{ choice: "yes" }] });
    await chat.run("permissions", "yolo");
    expect(chat.questions.map((question) => question.kind === "choice" && question.title)).toEqual([
      replies.confirmYolo,
    ]);
    expect(chat.done).toEqual(["setMode yolo", "refresh"]);
  });

  describe("/permissions alone", () => {
    const RULES: readonly ListedRule[] = [
      { list: "deny", rule: "bash(rm:*)", origin: "/h/config.json:2", saved: "user" },
      { list: "allow", rule: "bash(ls:*)", origin: "flag" },
      { list: "allow", rule: "bash(touch a)", origin: "session", saved: "session" },
    ];
    const alone = (...answers: readonly Answer[]) =>
      open({ answers, width: 200, chat: { rules: () => RULES, isTrusted: () => false } });
    const state = [
      `! ${replies.modes.ask}`,
      `  ${replies.notTrusted}`,
      `  ${replies.rules}:`,
      "  deny  bash(rm:*)  (/h/config.json:2)",
      "  allow bash(ls:*)  (flag)",
      "  allow bash(touch a)  (session)",
      `  ${replies.explainHint}`,
    ].join("\n");

    test("says what counts, and offers the modes and the saved rules", async () => {
      const chat = alone();
      await chat.run("permissions");
      expect([chat.said(), chat.done]).toEqual([state, []]);
      const [question] = chat.questions;
      expect(question).toMatchObject({ kind: "choice", title: replies.chooseModeOrRule });
      expect(question?.kind === "choice" && question.options.slice(5)).toEqual([
        { id: "rule 0", label: "take back: deny bash(rm:*)  (/h/config.json:2)" },
        { id: "rule 1", label: "take back: allow bash(touch a)  (this session)" },
      ]);
    });

    test("changes the mode", async () => {
      const chat = alone({ choice: "plan" });
      await chat.run("permissions");
      expect([chat.said(), chat.done]).toEqual([`${state}\n! ${replies.modes.plan}`, ["setMode plan", "refresh"]]);
    });

    test("takes a saved rule back, once that is confirmed", async () => {
      const yes = alone({ choice: "rule 1" }, { choice: "yes" });
      await yes.run("permissions");
      expect([yes.said(), yes.done]).toEqual([
        `${state}\n! ${replies.tookBack("bash(touch a)")}`,
        ["takeBackRule bash(touch a)"],
      ]);
      for (const answer of [{ choice: "no" }, { dismissed: true }] as const) {
        const no = alone({ choice: "rule 0" }, answer);
        await no.run("permissions");
        expect([no.said(), no.done]).toEqual([state, []]);
      }
    });
  });

  test("a key is asked for as a secret", async () => {
    const chat = open();
    await chat.run("login", "openai");
    expect(chat.questions).toEqual([{ kind: "text", title: replies.typeKey("OPENAI_API_KEY"), secret: true }]);
  });

  test("copies the last answer, without what would act on a terminal", async () => {
    const chat = open();
    await chat.run("copy");
    expect(chat.done).toEqual(["copy a 你好"]);
  });

  test("lists the newest steps, and shows all of one", async () => {
    const transcript = { ...NEW_TRANSCRIPT, recent: [step(1), step(2)] };
    const list = open({ transcript });
    await list.run("show");
    expect(list.said()).toMatch(/^ {2}The newest steps.*\n {4}1 ✓ bash.*\n {4}2 ✓ bash/);
    const one = open({ transcript });
    await one.run("show", "2");
    expect(one.said()).toContain("│ three\n  │ four");
  });

  test.each(["show", "help", "tools", "cost", "context", "permissions", "model", "doctor"])(
    "/%s fits every width",
    async (name) => {
      for (const width of [1, 2, 4, 7, 10, 20, 39, 80, 200]) {
        const chat = open({ width, transcript: { ...NEW_TRANSCRIPT, recent: [step(1), step(123)] } });
        await chat.run(name, name === "permissions" ? "plan" : name === "model" ? "a/b" : "");
        expect(Math.max(0, ...chat.lines.map(lineWidth)), `${name} at ${width}\n${chat.said()}`).toBeLessThanOrEqual(
          width,
        );
      }
    },
  );

  test("that fails says why and what to do, and what others wrote in it is visible", async () => {
    const failing = (error: Error) => open({ chat: { useModel: () => Promise.reject(error) } });
    const chat = failing(new UserError("no key for x\u202e", { exitCode: 2, hint: "set KEY" }));
    await chat.run("model", "x");
    expect(chat.said()).toBe(`! ${replies.failed("no key for x\\u{202e}")}\n  set KEY`);
    const bug = failing(new TypeError("oops"));
    await bug.run("model", "x");
    expect(bug.said()).toBe(`! ${replies.failed("oops")}`);
  });
});
