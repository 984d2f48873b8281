import fc from "fast-check";
import { expect, test } from "vitest";
import { isObservation, type Message } from "../../src/schema/message.ts";
import { NO_USAGE } from "../../src/schema/model.ts";
import {
  type Compaction,
  cutTo,
  NO_COMPACTIONS,
  partsOf,
  viewOf,
  withCompaction,
  withoutLast,
} from "../../src/session/compaction.ts";
import { createCompactions } from "../../src/session/compaction-fold.ts";
import { type CompactionCause, type Made, makeCompaction } from "../../src/session/compaction-make.ts";
import { cutMiddle } from "../../src/session/compaction-plan.ts";
import { createSizes, estimateText, isInput } from "../../src/session/context-tokens.ts";

type Answer = { readonly text: string } | { readonly calls: number; readonly bytes: number };

let ids = 0;

/** A conversation: inputs, each answered with turns of calls and then a text. */
const historyOf = (runs: readonly { readonly input: string; readonly turns: readonly Answer[] }[]): Message[] => [
  { role: "system", content: "Be brief." },
  ...runs.flatMap(({ input, turns }): readonly Message[] => [
    { role: "user", content: input },
    ...turns.flatMap((turn): readonly Message[] => {
      if ("text" in turn) return [{ role: "assistant", content: turn.text, toolCalls: [] }];
      const toolCalls = Array.from({ length: turn.calls }, () => {
        ids += 1;
        return { id: `c${ids}`, name: "bash", arguments: "{}" };
      });
      return [
        { role: "assistant", content: "", toolCalls },
        ...toolCalls.map(
          ({ id }): Message => ({ role: "user", toolCallId: id, content: "o".repeat(turn.bytes), isError: false }),
        ),
      ];
    }),
  ]),
];

const calls = fc.record({ calls: fc.integer({ min: 1, max: 3 }), bytes: fc.nat(6000) });
const answer = fc.oneof(
  { weight: 4, arbitrary: calls },
  fc.record({ text: fc.string({ minLength: 1, maxLength: 200 }) }),
);
const conversation = fc
  .array(fc.record({ input: fc.string({ minLength: 1, maxLength: 60 }), turns: fc.array(answer, { maxLength: 6 }) }), {
    minLength: 1,
    maxLength: 12,
  })
  .map(historyOf);
const causes = fc.constantFrom<CompactionCause>("full", "refused", "person");

type Options = {
  readonly cause?: CompactionCause;
  readonly limit?: number;
  readonly before?: Compaction | undefined;
  readonly summary?: string;
  readonly signal?: AbortSignal;
};

const make = (history: readonly Message[], options: Options = {}): Promise<Made> => {
  const sizes = createSizes();
  const { cause = "full", limit = 1000, before, summary = "SUMMARY", signal = new AbortController().signal } = options;
  return makeCompaction({
    history,
    parts: partsOf(history, before),
    cause,
    limit,
    window: limit * 1.25,
    size: (parts) => parts.reduce((sum, { message }) => sum + sizes.of(message), 0),
    ratio: 1,
    sizes,
    outputs: new Map(),
    context: {
      tools: [],
      signal,
      complete: async () => ({
        type: "answered",
        response: {
          message: { role: "assistant", content: summary, toolCalls: [] },
          finishReason: "stop",
          usage: NO_USAGE,
        },
      }),
    },
  });
};

const compactionOf = (made: Made): Compaction | undefined => (made.type === "made" ? made.compaction : undefined);

/** What an API refuses: results without their calls, calls without their results. */
const problems = (messages: readonly Message[]): readonly string[] => {
  let waiting: string[] = [];
  return messages.flatMap((message) => {
    if (isObservation(message)) {
      const isAsked = waiting.includes(message.toolCallId);
      waiting = waiting.filter((id) => id !== message.toolCallId);
      return isAsked ? [] : [`${message.toolCallId} was not called`];
    }
    const open = waiting;
    waiting = message.role === "assistant" ? message.toolCalls.map(({ id }) => id) : [];
    return open.map((id) => `${id} has no result`);
  });
};

test("whatever is compacted: calls keep their results, the order stays, and every short word of the person's is there", async () => {
  await fc.assert(
    fc.asyncProperty(conversation, causes, fc.integer({ min: 50, max: 5000 }), async (history, cause, limit) => {
      const compaction = compactionOf(await make(history, { cause, limit }));
      const view = viewOf(history, compaction);
      expect(problems(view)).toEqual([]);
      const places = partsOf(history, compaction).flatMap(({ at }) => at ?? []);
      expect(places).toEqual([...new Set(places)].sort((a, b) => a - b));
      const inputs = (messages: readonly Message[]) => messages.filter(isInput).map(({ content }) => content);
      expect(inputs(view).filter((text) => !text.startsWith("[harness9"))).toEqual(inputs(history));
    }),
  );
});

test("it is smaller or it is none, and the same history gives the same bytes", async () => {
  await fc.assert(
    fc.asyncProperty(conversation, causes, fc.integer({ min: 50, max: 5000 }), async (history, cause, limit) => {
      const made = await make(history, { cause, limit });
      expect(await make(history, { cause, limit })).toEqual(made);
      const compaction = compactionOf(made);
      if (!compaction) return;
      expect(compaction.after.tokens).toBeLessThan(compaction.before.tokens);
      const sizes = createSizes();
      const view = viewOf(history, compaction);
      expect(compaction.after).toEqual({ tokens: sizes.sum(view), messages: view.length });
      // As it comes from a journal.
      expect(viewOf(history, JSON.parse(JSON.stringify(compaction)) as Compaction)).toEqual(view);
    }),
  );
});

test("between two compactions the view only grows, and the second is made of the first", async () => {
  await fc.assert(
    fc.asyncProperty(conversation, conversation, fc.integer({ min: 200, max: 3000 }), async (first, more, limit) => {
      const before = compactionOf(await make(first, { limit }));
      const history = [...first, ...more.slice(1)];
      const view = viewOf(first, before);
      expect(viewOf(history, before).slice(0, view.length)).toEqual(view);
      const after = compactionOf(await make(history, { limit, before }));
      expect(problems(viewOf(history, after ?? before))).toEqual([]);
      const inputs = viewOf(history, after ?? before)
        .filter(isInput)
        .map(({ content }) => content);
      expect(inputs).toEqual(expect.arrayContaining(history.filter(isInput).map(({ content }) => content)));
      expect(inputs.filter((text) => text.startsWith("[harness9 has")).length).toBeLessThanOrEqual(1);
    }),
  );
});

const LONG = historyOf([
  { input: "first", turns: Array.from({ length: 10 }, () => ({ calls: 1, bytes: 2000 })) },
  { input: "second", turns: [{ calls: 1, bytes: 2000 }] },
]);

test("where old outputs are what fills the context, they give way and no summary is asked for", async () => {
  const compaction = compactionOf(await make(LONG, { limit: 4000, summary: "" }));
  expect(compaction?.summary).toBeUndefined();
  const results = viewOf(LONG, compaction).filter(isObservation);
  expect(results).toHaveLength(11);
  expect(results.at(-1)?.content).toBe("o".repeat(2000));
  expect(results[0]?.content).toBe(
    "[harness9 left out this old result of bash (2000 bytes) to free context. Call it again if you need it.]",
  );
});

test("a summary stands after the person's messages and before the newest turns", async () => {
  const compaction = compactionOf(await make(LONG, { limit: 1500, cause: "person" }));
  const view = viewOf(LONG, compaction);
  expect(view.slice(0, 2)).toEqual([
    { role: "system", content: "Be brief." },
    { role: "user", content: "first" },
  ]);
  expect(view[2]?.content).toMatch(/^second|SUMMARY$/);
  expect(view.slice(-2)).toEqual(LONG.slice(-2));
  expect(view.map(({ content }) => content).join("\n")).toContain("SUMMARY");
});

test("a big paste keeps its beginning and its end, and says what is left out", async () => {
  const paste = `BEGIN ${"x".repeat(60_000)} END`;
  const history = historyOf([
    { input: paste, turns: [{ text: "Read." }] },
    { input: "now", turns: [{ calls: 1, bytes: 100 }] },
  ]);
  const view = viewOf(history, compactionOf(await make(history, { limit: 2000 })));
  const [kept = ""] = view.filter(isInput).map(({ content }) => content);
  expect(kept).toMatch(/^BEGIN x+\n\[… \d+ characters left out here by harness9 to free context …\]\nx+ END$/);
  expect(estimateText(kept)).toBeLessThan(300);
});

test("without a summary old outputs and steps give way all the same, and it says so", async () => {
  const made = await make(LONG, { limit: 300, summary: "" });
  expect(made).toMatchObject({ type: "made", failure: "" });
  expect(
    viewOf(LONG, compactionOf(made))
      .map(({ content }) => content)
      .join("\n"),
  ).toContain("No summary could be made");
});

test("a person whose summary could not be written loses old outputs at most, and no steps", async () => {
  const made = await make(LONG, { cause: "person", limit: 4000, summary: "" });
  expect(made).toMatchObject({ type: "made", failure: "" });
  const view = viewOf(LONG, compactionOf(made));
  expect(view.filter(({ role }) => role === "assistant")).toEqual(LONG.filter(({ role }) => role === "assistant"));
  expect(view.map(({ content }) => content).join("\n")).not.toContain("No summary could be made");

  const talk = historyOf([{ input: "hello", turns: [{ text: "word ".repeat(400) }] }]);
  expect(await make(talk, { cause: "person", summary: "" })).toEqual({ type: "useless", failure: "" });
});

test("a cancelled one changes nothing", async () => {
  const signal = AbortSignal.abort();
  expect(await make(LONG, { limit: 300, signal })).toEqual({ type: "cancelled" });
});

test("a conversation without work has nothing to summarize", async () => {
  const history = historyOf([{ input: "hello", turns: [] }]);
  expect(await make(history, { cause: "person" })).toEqual({ type: "useless" });
});

test("a cut text is whole characters and takes about what it may", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", maxLength: 2000 }), fc.integer({ min: 25, max: 300 }), (text, tokens) => {
      const cut = cutMiddle(text, tokens);
      expect(cut).toBe(Buffer.from(cut).toString());
      expect(estimateText(cut)).toBeLessThanOrEqual(Math.max(tokens, 25) + 2);
      if (estimateText(text) <= tokens) expect(cut).toBe(text);
    }),
  );
});

const at = (covers: number): Compaction => ({
  covers,
  items: [{ type: "summary" }],
  summary: `up to ${covers}`,
  automatic: true,
  before: { tokens: 2, messages: 2 },
  after: { tokens: 1, messages: 1 },
});

test("an undone compaction uncovers the one before; what a cut history no longer has goes with it", () => {
  const both = withCompaction(withCompaction(NO_COMPACTIONS, at(3)), at(7));
  expect(withoutLast(both)).toEqual({ list: [at(3)], isHeld: true });
  expect(cutTo(both, 6)).toEqual({ list: [at(3)], isHeld: false });
  expect(cutTo(both, 2)).toEqual({ list: [], isHeld: false });
});

test("a rewind takes the compactions along that it cuts, and a redo brings them back", () => {
  let length = 8;
  const time = "2026-01-02T03:04:05.000Z";
  const fold = createCompactions(() => length);
  fold.add({ type: "compaction", time, ...at(3) });
  fold.add({ type: "compaction", time, ...at(8) });
  length = 5;
  fold.add({ type: "rewind", time, before: 1, restores: "both" });
  expect(fold.current()).toEqual(at(3));
  length = 2;
  fold.add({ type: "rewind", time, before: 1, restores: "conversation" });
  expect(fold.current()).toBeUndefined();
  const again = createCompactions(() => length, fold.state());
  length = 5;
  again.add({ type: "redo", time });
  expect(again.current()).toEqual(at(3));
  length = 8;
  again.add({ type: "redo", time });
  expect(again.current()).toEqual(at(8));
  again.add({ type: "compaction.undone", time });
  expect(again.current()).toEqual(at(3));
});

test("a compaction of messages that are missing stands for nothing", () => {
  const fold = createCompactions(() => 4);
  fold.add({ type: "compaction", time: "", ...at(9) });
  expect(fold.current()).toBeUndefined();
});
