import { describe, expect, test } from "vitest";
import { createEditor, type Editor, edit, setText, submitText } from "../../../src/ui/input/editor-buffer.ts";
import {
  acceptMatch,
  createHistory,
  type HistorySearch,
  recallNewer,
  recallOlder,
  remember,
  searchFor,
  searchNewer,
  searchOlder,
  startSearch,
} from "../../../src/ui/input/prompt-history.ts";

const view = { columns: 80, chipLabel: () => "[paste]" };

const walk = (entries: readonly string[], draft: Editor, steps: readonly ("older" | "newer" | string)[]): string[] => {
  let now = { history: createHistory(entries), editor: draft };
  return steps.map((step) => {
    if (step === "older") now = recallOlder(now.history, now.editor) ?? now;
    else if (step === "newer") now = recallNewer(now.history, now.editor) ?? now;
    else now = { ...now, editor: setText(now.editor, step) };
    return submitText(now.editor);
  });
};

describe("going through the history", () => {
  test("shows older ones and comes back to the draft", () => {
    expect(walk(["one", "two"], createEditor("draft"), ["older", "older", "older", "newer", "newer", "newer"])).toEqual(
      ["two", "one", "one", "two", "draft", "draft"],
    );
  });

  test("keeps what became of an entry", () => {
    expect(walk(["one", "two"], createEditor(), ["older", "two!", "older", "newer", "newer", "older"])).toEqual([
      "two",
      "two!",
      "one",
      "two!",
      "",
      "two!",
    ]);
  });

  test("the draft comes back with its pastes, its cursor and its undo", () => {
    const text = "line\n".repeat(30);
    const pasted = edit(createEditor("see "), { type: "paste", text }, view);
    const draft = edit(pasted, "line-start", view);
    const up = recallOlder(createHistory(["one"]), draft);
    const down = up && recallNewer(up.history, up.editor);
    expect(down?.editor).toEqual(draft);
    expect(up && edit(edit(up.editor, "kill-line-left", view), "yank", view).text).toBe("one");
  });

  test("a sent message is the newest, once, and edits of others are gone", () => {
    const up = recallOlder(createHistory(["a", "a", " ", "b"]), createEditor());
    const sent = remember(remember(remember(up?.history ?? createHistory([]), "c"), "c"), "\n");
    expect(sent).toEqual({ entries: ["a", "b", "c"], at: 3, edited: new Map() });
  });

  test("an empty history has nothing to show", () => {
    expect([recallOlder(createHistory([]), createEditor()), recallNewer(createHistory([]), createEditor())]).toEqual([
      undefined,
      undefined,
    ]);
  });
});

describe("searching the history", () => {
  const history = createHistory(["fix test", "Run tests", "deploy", "run tests", "fix docs", "run tests"]);
  const search = (...steps: readonly ((search: HistorySearch) => HistorySearch)[]): HistorySearch =>
    steps.reduce((before, step) => step(before), startSearch());
  const query = (text: string) => (before: HistorySearch) => searchFor(history, before, text);
  const older = (before: HistorySearch) => searchOlder(history, before);
  const newer = (before: HistorySearch) => searchNewer(history, before);

  test.each<[string, HistorySearch, HistorySearch]>([
    [
      "the newest match",
      search(query("test")),
      { query: "test", match: { entry: 5, text: "run tests", start: 4 }, failed: false },
    ],
    [
      "an older one that differs",
      search(query("test"), older),
      { query: "test", match: { entry: 1, text: "Run tests", start: 4 }, failed: false },
    ],
    [
      "and a newer one again",
      search(query("test"), older, newer),
      { query: "test", match: { entry: 3, text: "run tests", start: 4 }, failed: false },
    ],
    [
      "capitals count when they are typed",
      search(query("R")),
      { query: "R", match: { entry: 1, text: "Run tests", start: 0 }, failed: false },
    ],
    [
      "a longer query goes on from the match",
      search(query("fix"), older, query("fix t")),
      { query: "fix t", match: { entry: 0, text: "fix test", start: 0 }, failed: false },
    ],
    [
      "what no longer matches keeps the last match",
      search(query("docs"), query("docsx")),
      { query: "docsx", match: { entry: 4, text: "fix docs", start: 4 }, failed: true },
    ],
    [
      "a shorter query begins anew",
      search(query("fix"), older, query("fi")),
      { query: "fi", match: { entry: 4, text: "fix docs", start: 0 }, failed: false },
    ],
    ["no query, no match", search(query("fix"), query("")), { query: "", failed: false }],
    ["nothing found", search(query("zzz"), older), { query: "zzz", failed: true }],
  ])("%s", (_, found, expected) => {
    expect(found).toEqual(expected);
  });

  test("an accepted match takes the place of the input, which stays as the draft", () => {
    const accepted = acceptMatch(history, search(query("deploy")), createEditor("draft"));
    expect([accepted.editor.text, accepted.history.at]).toEqual(["deploy", 2]);
    let back = accepted;
    for (let times = 0; times < 4; times++) back = recallNewer(back.history, back.editor) ?? back;
    expect(back.editor.text).toBe("draft");
  });

  test("an entry that was edited since comes back as it was found", () => {
    const up = recallOlder(history, createEditor());
    if (up === undefined) throw new Error("the history is not empty");
    expect(acceptMatch(up.history, search(query("run")), setText(up.editor, "other")).editor.text).toBe("run tests");
  });

  test("without a match the input stays", () => {
    const editor = createEditor("draft");
    expect(acceptMatch(history, search(query("zzz")), editor)).toEqual({ history, editor });
  });
});
