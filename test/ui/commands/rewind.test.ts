import { describe, expect, test } from "vitest";
import type { Answer, Question } from "../../../src/schema/ask.ts";
import type { Chat } from "../../../src/session/chat.ts";
import type { ChatRewind, PastTurn, WayBack } from "../../../src/session/rewind.ts";
import { en } from "../../../src/text/en.ts";
import { UserError } from "../../../src/text/user-error.ts";
import { type CommandContext, runCommand } from "../../../src/ui/commands/run-command.ts";
import { UNICODE_GLYPHS } from "../../../src/ui/glyphs.ts";
import { plainText } from "../../../src/ui/line.ts";
import { NEW_TRANSCRIPT } from "../../../src/ui/transcript/transcript.ts";
import { chatInfo } from "../../helpers/live-region.ts";

const CHANGE = { path: "a.txt", kind: "changed", lines: { added: 1, removed: 2 } } as const;

const TURNS: readonly PastTurn[] = [
  { type: "shell", seq: 20, number: 2, text: "rm x", ageMs: 61_000, changes: null },
  { type: "run", seq: 1, number: 1, text: "fix\n\x1b[31mit", ageMs: 7_200_000, changes: [CHANGE] },
];

type Options = {
  readonly answers?: readonly (Answer | string)[];
  readonly busyAfter?: number;
  readonly turns?: readonly PastTurn[];
  readonly way?: Partial<WayBack>;
  readonly rewind?: Partial<ChatRewind>;
};

const open = ({ answers = [], busyAfter = 99, turns = TURNS, way = {}, rewind = {} }: Options = {}) => {
  const done: string[] = [];
  const questions: Question[] = [];
  const said: string[] = [];
  const waiting = [...answers];
  let looks = 0;
  const chat = {
    info: () => chatInfo(),
    session: () => ({ context: { state: () => ({ tokens: 7 }) } }),
    rewind: {
      turns: async () => turns,
      wayBack: async (turn: PastTurn): Promise<WayBack> => ({
        turn,
        files: { changes: [CHANGE], conflicts: [] },
        go: async (restores) => {
          done.push(`go ${turn.seq} ${restores}`);
          return { restores, files: 1, kept: [{ path: "b\n.txt", reason: "changed" }] };
        },
        ...way,
      }),
      redoable: () => null,
      redo: async () => {
        done.push("redo");
        return { restores: "files", files: 3, kept: [] };
      },
      fork: async () => {
        done.push("fork");
        return { from: "20260101-030405-abcd", warnings: ["careful"] };
      },
      ...rewind,
    },
  } as unknown as Chat;
  const context = {
    chat,
    transcript: () => NEW_TRANSCRIPT,
    isBusy: () => {
      looks += 1;
      return looks > busyAfter;
    },
    width: () => 100,
    glyphs: UNICODE_GLYPHS,
    strings: en,
    say: (lines: Parameters<CommandContext["say"]>[0]) =>
      said.push(...lines.map((line) => plainText(line).trim()).filter((line) => line !== "")),
    choose: async (question: Question) => {
      questions.push(question);
      const answer = waiting.shift() ?? { dismissed: true };
      return typeof answer === "string" ? { choice: answer } : answer;
    },
    putBack: (text: string) => done.push(`putBack ${text}`),
    settle: ({ contextTokens }: { readonly contextTokens: number }) => done.push(`settle ${contextTokens}`),
    refresh: () => done.push("refresh"),
    signal: new AbortController().signal,
  } as unknown as CommandContext;
  const run = (name: string, argument = ""): Promise<void> => runCommand({ name, argument }, context);
  return { run, done, questions, said };
};

const optionsOf = (question: Question | undefined): readonly string[] =>
  question?.kind === "choice" ? question.options.map(({ id, label }) => `${id}: ${label}`) : [];

describe("/rewind", () => {
  test("lists the turns by number, age, change and first words, and asks what goes back", async () => {
    const chat = open({ answers: ["1", "both"] });
    await chat.run("rewind");
    expect(optionsOf(chat.questions[0])).toEqual([
      "20:  #2   1 m  !rm x",
      "1:  #1   2 h  1 file +1 −2  fix \\u{1b}[31mit",
    ]);
    expect(chat.questions[1]).toMatchObject({ text: "1 file would change:\n  a.txt  changes +1 −2" });
    expect(optionsOf(chat.questions[1]).map((option) => option.split(":")[0])).toEqual([
      "both",
      "conversation",
      "files",
      "cancel",
    ]);
    expect(chat.done).toEqual(["go 1 both", "settle 7", "refresh", "putBack fix\n\x1b[31mit"]);
    expect(chat.said).toEqual([
      "! back to before: fix \\u{1b}[31mit",
      "conversation and 1 file. /rewind redo takes it back",
      "! b\\u{a}.txt stays as it is: changed",
    ]);
  });

  test.each<readonly [string, readonly string[], readonly string[]]>([
    [
      "the conversation of a command",
      ["20", "conversation"],
      ["go 20 conversation", "settle 7", "refresh", "putBack !rm x"],
    ],
    ["files alone, and nothing returns to the input", ["1", "files"], ["go 1 files", "settle 7", "refresh"]],
    ["nothing when it is cancelled", ["1", "cancel"], []],
    ["nothing when no turn is chosen", [], []],
    ["nothing when the second question is left", ["1"], []],
  ])("takes back %s", async (_name, answers, done) => {
    const chat = open({ answers });
    await chat.run("rewind");
    expect(chat.done).toEqual(done);
  });

  test.each<readonly [string, Partial<WayBack>]>([
    ["are not known", { files: null }],
    ["are as they were", { files: { changes: [], conflicts: [] } }],
    ["are all others' now", { files: { changes: [], conflicts: [CHANGE] } }],
  ])("offers the conversation alone where the files %s", async (_name, way) => {
    const chat = open({ answers: ["1", "both"], way });
    await chat.run("rewind");
    expect(optionsOf(chat.questions[1]).map((option) => option.split(":")[0])).toEqual(["conversation", "cancel"]);
    expect(chat.done).toEqual([]);
  });

  test("the newest way back can be taken back from the list too", async () => {
    const redoable = { text: "fix it", restores: "files" } as const;
    const chat = open({ answers: ["redo"], rewind: { redoable: () => redoable } });
    await chat.run("rewind");
    expect(optionsOf(chat.questions[0])[0]).toBe("redo: take back the way back to before: fix it");
    expect(chat.done).toEqual(["redo", "settle 7", "refresh"]);
    expect(chat.said).toEqual(["! taken back: the way back to before: fix it", "3 files"]);
  });

  test.each<readonly [string, string, Options, string]>([
    ["while something runs", "", { busyAfter: 0 }, "! something still runs"],
    ["when a run has begun meanwhile", "", { busyAfter: 1, answers: ["1", "both"] }, "! something still runs"],
    ["without a turn", "", { turns: [] }, "! there is nothing to go back to yet"],
    ["redo without a way back", "redo", {}, "! there is nothing to take back"],
    ["an argument that is none", "undo", {}, "! there is no 'undo'; choose from: redo"],
  ])("%s it says why not", async (_name, argument, options, text) => {
    const chat = open(options);
    await chat.run("rewind", argument);
    expect(chat.done).toEqual([]);
    expect(chat.said[0]).toContain(text);
  });

  test("of very many files that stay the last are counted", async () => {
    const kept = Array.from({ length: 500 }, (_, index) => ({ path: `f${index}`, reason: "read only" }));
    const go: WayBack["go"] = async (restores) => ({ restores, files: 0, kept });
    const chat = open({ answers: ["1", "files"], way: { go } });
    await chat.run("rewind");
    expect(chat.said.slice(-2)).toEqual(["! f9 stays as it is: read only", "! and 490 more"]);
  });

  test("a failure is told, and nothing returns to the input", async () => {
    const go = (): Promise<never> => Promise.reject(new UserError("the disk is full", { exitCode: 1 }));
    const chat = open({ answers: ["1", "both"], way: { go } });
    await chat.run("rewind");
    expect(chat.said.join("\n")).toContain("the disk is full");
    expect(chat.done).toEqual([]);
  });
});

describe("/diff", () => {
  test.each<readonly [string, Awaited<ReturnType<ChatRewind["diff"]>>, string]>([
    ["nothing has changed", { turn: null, files: [] }, "! no file has been changed"],
    ["there is no turn", null, "! no file has been changed"],
    ["no states are kept", { turn: null, files: null }, "! this session keeps no states of the files"],
  ])("says so where %s", async (_name, found, text) => {
    const chat = open({ rewind: { diff: async () => found } });
    await chat.run("diff");
    expect(chat.said.join(" ")).toContain(text);
  });
});

describe("/fork", () => {
  test("goes on under another id, and says which", async () => {
    const chat = open();
    await chat.run("fork");
    expect(chat.done).toEqual(["fork", "refresh"]);
    expect(chat.said.join(" ")).toContain(
      "20260101-030405-abcd stays as it was: harness9 --session 20260101-030405-abcd",
    );
    expect(chat.said.at(-1)).toBe("! careful");
  });

  test("not while something runs", async () => {
    const chat = open({ busyAfter: 0 });
    await chat.run("fork");
    expect(chat.done).toEqual([]);
  });
});
