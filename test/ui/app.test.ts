import { describe, expect, onTestFinished, test } from "vitest";
import { createEditor, edit } from "../../src/ui/input/editor-buffer.ts";
import { span } from "../../src/ui/line.ts";
import { runUi } from "../../src/ui/run-ui.tsx";
import { showPlainly } from "../../src/ui/view/chat-view.ts";
import type { ViewState } from "../../src/ui/view/view-state.ts";
import { type DrawnView, drawnView } from "../helpers/drawn-view.ts";
import { liveState, NOW_MS, openQuestion, permission, regionLines, running } from "../helpers/live-region.ts";

const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
};

const trimmed = (rows: readonly string[]): readonly string[] => rows.map((row) => row.trimEnd());

const expected = ({ view }: DrawnView): readonly string[] => trimmed(regionLines(view.layout()).map(view.paint));

const start = (state: ViewState, columns?: number, rows?: number): DrawnView => {
  const drawn = drawnView(state, columns, rows);
  onTestFinished(runUi(drawn.view));
  return drawn;
};

const LONG = "word 你好 🎉 ".repeat(20);
const STATES: Readonly<Record<string, ViewState>> = {
  idle: liveState(),
  typing: liveState({ editor: createEditor(`one\n\n${LONG}`) }),
  answering: liveState({
    liveText: [[span("● "), span("Bold", "bold"), span(" and 你好", "code")], [], [span("  "), span("x", "link")], []],
    transcript: running(),
  }),
  "blank rows only": liveState({ liveText: [[]], transcript: running() }),
  running: liveState({
    transcript: running({
      steps: [
        {
          id: "a",
          name: "bash",
          arguments: JSON.stringify({ command: LONG }),
          startedMs: NOW_MS - 3000,
          isAsked: false,
          progress: LONG,
        },
      ],
    }),
  }),
  asking: liveState({ question: openQuestion(permission({ arguments: JSON.stringify({ command: LONG }) })) }),
  keys: liveState({ showsKeys: true }),
};

describe("the live region through Ink", () => {
  test.each(Object.entries(STATES))(
    "is the painted rows of the layout, one below the other: %s",
    async (_name, state) => {
      for (const [columns, rows] of [
        [80, 24],
        [20, 10],
        [3, 5],
      ] as const) {
        const drawn = start(state, columns, rows);
        await turns();
        expect(trimmed(drawn.takeFrames().at(-1) ?? [])).toEqual(expected(drawn));
      }
    },
  );

  test("is what it is without Ink", async () => {
    const drawn = start(liveState({ editor: createEditor("hello") }));
    await turns();
    const [frame = []] = drawn.takeFrames();
    showPlainly(drawn.view);
    expect(trimmed(drawn.takeFrames().at(-1) ?? [])).toEqual(trimmed(frame));
  });

  test("follows each change, and stands on the terminal with its cursor", async () => {
    const drawn = start(liveState());
    await turns();
    drawn.store.set({ editor: createEditor("hi") });
    await turns();
    expect(await drawn.terminal.rows()).toEqual([
      "─".repeat(79),
      "› hi",
      "  ask   shift+tab   anthropic/claude-opus-4-8   ? keys   / commands",
    ]);
    expect(drawn.terminal.cursor()).toEqual({ row: 1, column: 4 });
  });

  test("a cursor that moves alone moves on the terminal", async () => {
    const editor = createEditor("hi");
    const drawn = start(liveState({ editor }));
    await turns();
    drawn.store.set({ editor: edit(editor, "left", { columns: 70, chipLabel: () => "" }) });
    await turns();
    await drawn.terminal.rows();
    expect(drawn.terminal.cursor()).toEqual({ row: 1, column: 3 });
  });

  test("another size and another theme are followed", async () => {
    const drawn = start(liveState({ editor: createEditor("word ".repeat(12)) }), 40, 10);
    await turns();
    Object.assign(drawn.terminal.output, { columns: 100, rows: 30 });
    drawn.store.set({});
    await turns();
    expect(trimmed(drawn.takeFrames().at(-1) ?? [])).toEqual(expected(drawn));
    drawn.setTheme("none");
    drawn.store.set({});
    await turns();
    const frame = drawn.takeFrames().at(-1) ?? [];
    expect(frame.join("\n")).not.toContain("\x1b");
    expect(trimmed(frame)).toEqual(expected(drawn));
  });

  test("several changes in one turn are one frame", async () => {
    const drawn = start(liveState());
    await turns();
    drawn.takeFrames();
    for (let index = 0; index < 10; index++) drawn.store.set({ editor: createEditor("x".repeat(index)) });
    await turns();
    expect(drawn.takeFrames().length).toBeLessThanOrEqual(2);
  });

  test("shows nothing more after its end", async () => {
    const drawn = drawnView(liveState());
    const end = runUi(drawn.view);
    await turns();
    end();
    await turns();
    drawn.takeFrames();
    drawn.store.set({ editor: createEditor("late") });
    await turns();
    expect(drawn.takeFrames()).toEqual([]);
  });
});
