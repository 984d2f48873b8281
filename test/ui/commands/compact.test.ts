import { expect, test } from "vitest";
import type { Answer } from "../../../src/schema/ask.ts";
import type { Chat } from "../../../src/session/chat.ts";
import type { Compaction } from "../../../src/session/compaction.ts";
import type { Compacted } from "../../../src/session/context-keeper.ts";
import { en } from "../../../src/text/en.ts";
import type { CommandContext } from "../../../src/ui/commands/command-context.ts";
import { runCompact } from "../../../src/ui/commands/compact.ts";
import { UNICODE_GLYPHS } from "../../../src/ui/glyphs.ts";
import { plainText } from "../../../src/ui/line.ts";
import { NEW_TRANSCRIPT } from "../../../src/ui/transcript/transcript.ts";
import { chatInfo } from "../../helpers/live-region.ts";

const strings = en.compaction;

const compaction: Compaction = {
  covers: 9,
  items: [{ type: "summary" }],
  summary: "## Intent\nGo on.\x1b[31m",
  automatic: false,
  before: { tokens: 78_000, messages: 9 },
  after: { tokens: 12_000, messages: 2 },
};

type Options = {
  readonly compacted?: Compacted;
  readonly answer?: Answer;
  readonly isBusy?: boolean;
  readonly isOffline?: boolean;
  readonly holds?: Compaction | undefined;
  readonly edited?: string | undefined;
};

const run = async (argument: string, options: Options = {}) => {
  const { compacted = { type: "compacted", compaction }, answer = { dismissed: true }, isBusy = false } = options;
  const holds = "holds" in options ? options.holds : compaction;
  const done: string[] = [];
  const said: string[] = [];
  const context = {
    state: () => ({ tokens: 12_500 }),
    compaction: () => holds,
    compact: async ({ focus }: { readonly focus?: string }) => {
      done.push(`compact ${focus ?? "-"}`);
      return compacted;
    },
    undo: () => {
      done.push("undo");
      return holds !== undefined;
    },
    rewrite: (summary: string) => {
      done.push(`rewrite ${summary}`);
      return true;
    },
  };
  const partial: Partial<CommandContext> = {
    chat: {
      session: () => ({ context }),
      info: () => chatInfo({ isOffline: options.isOffline ?? false }),
    } as unknown as Chat,
    isBusy: () => isBusy,
    width: () => 80,
    glyphs: UNICODE_GLYPHS,
    strings: en,
    say: (lines) => said.push(lines.map((line) => plainText(line).trim()).join("\n")),
    choose: async ({ kind }) => {
      done.push(`choose ${kind}`);
      return answer;
    },
    work: (task) => task(new AbortController().signal),
    changeText: async (text) => {
      done.push(`edit ${text.length}`);
      return options.edited;
    },
    take: () => undefined,
    transcript: () => NEW_TRANSCRIPT,
    settle: ({ contextTokens }) => void done.push(`settle ${contextTokens}`),
    signal: new AbortController().signal,
  };
  // A command finds no more than it uses.
  await runCompact(argument, partial as CommandContext);
  return { done, said: said.join("\n") };
};

test("a person compacts with a focus, reads the summary, and is offered to change it or take it back", async () => {
  const { done, said } = await run("the tests");
  expect(done).toEqual(["compact the tests", "choose choice"]);
  expect(said).toContain("## Intent\nGo on.\\u{1b}[31m");
});

test.each<[string, Answer, readonly string[]]>([
  ["kept", { choice: "keep" }, []],
  ["taken back", { choice: "undo" }, ["undo"]],
  ["changed", { choice: "edit" }, ["edit 21", "rewrite MINE", "settle 12500"]],
])("what was offered: it is %s", async (_, answer, then) => {
  const { done } = await run("", { answer, edited: " MINE\n" });
  expect(done).toEqual(["compact -", "choose choice", ...then]);
});

test.each<[string, string, Options, readonly string[], string]>([
  ["while something runs", "", { isBusy: true }, [], strings.whileBusy],
  ["in the demonstration", "", { isOffline: true }, [], strings.nothing],
  ["where nothing can be left out", "", { compacted: { type: "useless" } }, ["compact -"], strings.nothing],
  [
    "where no summary could be made",
    "",
    { compacted: { type: "useless", failure: "HTTP 500" } },
    ["compact -"],
    strings.failed("HTTP 500"),
  ],
  ["stopped", "", { compacted: { type: "cancelled" } }, ["compact -"], strings.cancelled],
  ["nothing to take back", "undo", { holds: undefined }, ["undo"], strings.nothingToUndo],
  ["nothing to change", "edit", { holds: undefined }, [], strings.nothingToEdit],
  ["an editor that was left", "edit", { edited: undefined }, ["edit 21"], strings.unchanged],
  ["the same text", "edit", { edited: `${compaction.summary}\n` }, ["edit 21"], strings.unchanged],
  ["another text", "edit", { edited: "MINE" }, ["edit 21", "rewrite MINE", "settle 12500"], strings.changed("12.5k")],
  ["an emptied text is none", "edit", { edited: " \n" }, ["edit 21", "undo"], ""],
])("%s", async (_, argument, options, done, words) => {
  const result = await run(argument, options);
  expect(result.done).toEqual(done);
  expect(result.said.replaceAll("\n", " ")).toContain(words);
});
