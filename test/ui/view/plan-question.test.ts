import { describe, expect, test } from "vitest";
import type { Answer, Ask, ChoiceQuestion } from "../../../src/schema/ask.ts";
import type { EngineEventBody, PermissionMode, RunEndReason } from "../../../src/schema/event.ts";
import { NO_USAGE } from "../../../src/schema/model.ts";
import type { Chat } from "../../../src/session/chat.ts";
import { en } from "../../../src/text/en.ts";
import { createEditor } from "../../../src/ui/input/editor-buffer.ts";
import { questionOptions } from "../../../src/ui/question/question-options.ts";
import type { KeyInput } from "../../../src/ui/terminal/keys.ts";
import type { Block } from "../../../src/ui/transcript/transcript.ts";
import { createPlanQuestion, isForMessage } from "../../../src/ui/view/plan-question.ts";
import type { Scribe } from "../../../src/ui/view/scribe.ts";
import { emptyState, type ViewState } from "../../../src/ui/view/view-state.ts";

const strings = en.plan;

type Script = { readonly answers?: readonly Answer[]; readonly edits?: readonly (string | undefined)[] };

const open = (
  { answers = [], edits = [] }: Script = {},
  { isPlanning = true, modes = ["ask", "auto-edit", "plan"] as readonly PermissionMode[] } = {},
) => {
  const asked: ChoiceQuestion[] = [];
  const sent: string[] = [];
  const shown: string[] = [];
  const edited: string[] = [];
  const blocks: Block[] = [];
  let mode: PermissionMode = "plan";
  const [nextAnswers, nextEdits] = [[...answers], [...edits]];
  const ask: Ask = (question, signal) => {
    if (question.kind === "choice") asked.push(question);
    const answer = nextAnswers.shift();
    if (answer) return Promise.resolve(answer);
    return new Promise((resolve) => {
      if (signal.aborted) resolve({ dismissed: true });
      signal.addEventListener("abort", () => resolve({ dismissed: true }), { once: true });
    });
  };
  const chat = {
    session: () => ({ isPlanning }),
    info: () => ({ modes, mode }),
    setMode: (next: PermissionMode) => {
      mode = next;
    },
  } as unknown as Chat;
  const plan = createPlanQuestion({
    chat: () => chat,
    ask,
    edit: async (text) => {
      edited.push(text);
      return nextEdits.shift();
    },
    scribe: { add: (block) => void blocks.push(block) } as Scribe,
    submit: (text, short) => {
      sent.push(text);
      shown.push(short);
    },
    refresh: () => undefined,
    strings,
  });
  return { plan, asked, sent, shown, edited, blocks, chat, mode: () => mode };
};

const ended = (text: string, reason: RunEndReason = "completed"): EngineEventBody<"run.completed"> => ({
  type: "run.completed",
  reason,
  text,
  turns: 1,
  contextMessages: 3,
  usage: NO_USAGE,
  costUsd: null,
  durationMs: 1,
  permissionDenials: [],
});

const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
};

describe("a plan", () => {
  test.each<[string, EngineEventBody<"run.completed">, boolean, number]>([
    ["is asked about", ended("1. Do it."), true, 1],
    ["is none outside of plan mode", ended("Done."), false, 0],
    ["is none where nothing is said", ended(" \n"), true, 0],
    ["is none where the run was interrupted", ended("1. Do", "cancelled"), true, 0],
    ["is none where the run failed", ended("1. Do", "error"), true, 0],
    ["is none at the limit of turns", ended("1. Do", "max_turns"), true, 0],
    ["is none at the end of a budget", ended("1. Do", "budget"), true, 0],
    ["is none where a call was repeated", ended("1. Do", "repeated_call"), true, 0],
  ])("%s", async (_name, end, isPlanning, times) => {
    const { plan, asked } = open({}, { isPlanning });
    plan.offer(end);
    await turns();
    expect(asked).toHaveLength(times);
  });

  test.each<[PermissionMode[], string[]]>([
    [
      ["ask", "auto-edit", "plan"],
      ["ask", "auto-edit", "edit", "keep"],
    ],
    [
      ["ask", "auto-edit", "plan", "auto"],
      ["ask", "auto-edit", "auto", "edit", "keep"],
    ],
    [
      ["ask", "auto-edit", "plan", "yolo"],
      ["ask", "auto-edit", "edit", "keep"],
    ],
  ])("offers of the modes %j what fits", async (modes, expected) => {
    const { plan, asked } = open({}, { modes });
    plan.offer(ended("1. Do it."));
    await turns();
    expect(asked[0]?.options.map(({ id }) => id)).toEqual(expected);
  });

  test("whoever chooses to keep planning does, also after a change of the mode meanwhile", async () => {
    const opened = open({ answers: [{ choice: "keep" }] });
    opened.plan.offer(ended("1. Do it."));
    opened.chat.setMode("ask");
    await turns();
    expect(opened.mode()).toBe("plan");
  });

  test.each<[string, Script, PermissionMode, string[]]>([
    ["carried out, asking", { answers: [{ choice: "ask" }] }, "ask", [strings.accepted]],
    ["carried out, edits unasked", { answers: [{ choice: "auto-edit" }] }, "auto-edit", [strings.accepted]],
    ["not carried out", { answers: [{ choice: "keep" }] }, "plan", []],
    ["left by Esc", { answers: [{ dismissed: true }] }, "plan", []],
    [
      "changed and carried out",
      { answers: [{ choice: "edit" }, { choice: "ask" }], edits: ["2. Do more."] },
      "ask",
      [strings.acceptedEdited("2. Do more.")],
    ],
    ["changed and left", { answers: [{ choice: "edit" }, { dismissed: true }], edits: ["2. Do more."] }, "plan", []],
    [
      "not changed after all",
      { answers: [{ choice: "edit" }, { choice: "ask" }], edits: ["1. Do it."] },
      "ask",
      [strings.accepted],
    ],
    [
      "emptied, which changes nothing",
      { answers: [{ choice: "edit" }, { choice: "ask" }], edits: ["\n"] },
      "ask",
      [strings.accepted],
    ],
    [
      "kept where the editor failed",
      { answers: [{ choice: "edit" }, { choice: "ask" }], edits: [undefined] },
      "ask",
      [strings.accepted],
    ],
  ])("%s", async (_name, script, mode, sent) => {
    const opened = open(script);
    opened.plan.offer(ended("1. Do it."));
    await turns();
    expect([opened.mode(), opened.sent]).toEqual([mode, sent]);
    expect(opened.shown).toEqual(sent.map(() => strings.accepted));
  });

  test("is edited from where it was left, and printed each time", async () => {
    const { plan, edited, blocks, asked } = open({
      answers: [{ choice: "edit" }, { choice: "edit" }],
      edits: ["two", "three"],
    });
    plan.offer(ended("one"));
    await turns();
    expect(edited).toEqual(["one", "two"]);
    expect(asked).toHaveLength(3);
    expect(blocks.flatMap((block) => (block.type === "text" ? [block.delta] : []))).toEqual(["two", "three"]);
  });

  test("is forgotten when the question is taken away, and the next one is asked about anew", async () => {
    const { plan, asked, sent, mode } = open();
    plan.offer(ended("one"));
    await turns();
    expect(plan.isAsked(asked[0])).toBe(true);
    plan.close();
    plan.close();
    await turns();
    expect([plan.isAsked(asked[0]), plan.isAsked(undefined), sent, mode()]).toEqual([false, false, [], "plan"]);
    plan.offer(ended("two"));
    await turns();
    expect(plan.isAsked(asked[1])).toBe(true);
  });

  test.each([
    ["1", false],
    ["9", false],
    ["", false],
    ["yes", false],
    ["no", false],
    ["edit the plan first", false],
    ["also add a test", true],
    ["yesterday's plan was better", true],
    ["1 more thing", true],
    ["/clear", true],
  ])("a line that says %j is a message: %s", async (line, isMessage) => {
    const { plan } = open();
    expect(plan.isMessage(line)).toBe(false);
    plan.offer(ended("one"));
    await turns();
    expect(plan.isMessage(line)).toBe(isMessage);
  });
});

const state = ({ isArmed = true, selected = 0, text = "" } = {}): ViewState => {
  const question = {
    kind: "choice",
    title: strings.title,
    options: ["ask", "auto-edit", "edit", "keep"].map((id) => ({ id, label: id })),
  } as const;
  return {
    ...emptyState(0),
    editor: createEditor(text),
    question: {
      question,
      options: questionOptions(question, en.question),
      body: [],
      stage: "choose",
      selected,
      filter: "",
      text: createEditor(),
      isArmed,
      isInterrupting: false,
      settle: () => undefined,
    },
  };
};

const key = (chord: string): KeyInput => ({ type: "key", chord });
const text = (typed: string): KeyInput => ({ type: "text", text: typed });

test.each<[string, KeyInput, ViewState, boolean]>([
  ["a number answers", text("1"), state(), false],
  ["a number without an answer does not", text("7"), state(), true],
  ["a letter begins a message", text("a"), state(), true],
  ["words that came at once too", text("1 more thing"), state(), true],
  ["so does a paste", { type: "paste", text: "1" }, state(), true],
  ["Enter answers", key("enter"), state(), false],
  ["Enter sends what stands there", key("enter"), state({ text: "also" }), true],
  ["Enter takes what was selected", key("enter"), state({ text: "also", selected: 2 }), false],
  ["Esc leaves the question", key("escape"), state({ text: "also" }), false],
  ["an arrow selects", key("down"), state(), false],
  ["before it takes keys all go to the input anyway", text("a"), state({ isArmed: false }), false],
  ["without a question too", text("a"), emptyState(0), false],
])("%s", (_name, input, view, expected) => expect(isForMessage(input, view)).toBe(expected));
