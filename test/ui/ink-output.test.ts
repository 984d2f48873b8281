import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import Output from "../../src/ui/ink-output.ts";
import { createEditor } from "../../src/ui/input/editor-buffer.ts";
import { span } from "../../src/ui/line.ts";
import { runUi } from "../../src/ui/run-ui.tsx";
import type { ViewState } from "../../src/ui/view/view-state.ts";
import { drawnView } from "../helpers/drawn-view.ts";
import { liveState, openQuestion, permission, running } from "../helpers/live-region.ts";

type Options = { readonly transformers: readonly ((row: string, index: number) => string)[] };
type Write = readonly [x: number, y: number, text: string, options: Options];
type OutputClass = new (size: {
  readonly width: number;
  readonly height: number;
}) => {
  write(...write: Write): void;
  get(): { readonly output: string; readonly height: number };
};

/** Ink's own, the very one that its renderer uses. */
const inkOutput = async (): Promise<OutputClass> => {
  const entry = createRequire(import.meta.url).resolve("ink");
  const loaded = (await import(pathToFileURL(join(dirname(entry), "output.js")).href)) as {
    readonly default: OutputClass;
  };
  return loaded.default;
};

const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
};

const written = (make: OutputClass, size: { width: number; height: number }, writes: readonly Write[]): string => {
  const output = new make(size);
  for (const write of writes) output.write(...write);
  return output.get().output;
};

const STATES: Readonly<Record<string, ViewState>> = {
  idle: liveState(),
  typing: liveState({ editor: createEditor("one\n\n你好 🎉 e\u0301") }),
  answering: liveState({
    liveText: [
      [span("● "), span("Bold", "bold", "accent"), span(" and 你好", "code")],
      [],
      [span("  "), span("x", "link")],
    ],
    transcript: running(),
  }),
  asking: liveState({ question: openQuestion(permission()), transcript: running() }),
  keys: liveState({ showsKeys: true }),
};

describe("our collector of a frame", () => {
  test.each(Object.entries(STATES))(
    "makes of the writes of the real app what Ink's own does: %s",
    async (_name, state) => {
      const InkOutput = await inkOutput();
      const write = vi.spyOn(InkOutput.prototype, "write");
      onTestFinished(() => void write.mockRestore());
      for (const columns of [80, 30]) {
        const drawn = drawnView(state, columns, 24);
        write.mockClear();
        const end = runUi(drawn.view);
        await turns();
        const frame = drawn.takeFrames().at(-1) ?? [];
        const last = write.mock.calls.findLastIndex(([, y]) => y === 0);
        const writes = write.mock.calls.slice(last) as unknown as readonly Write[];
        end();
        const size = { width: columns, height: frame.length };
        expect(writes.length).toBeGreaterThan(0);
        expect(frame.join("\n")).toBe(written(InkOutput, size, writes));
        // Ink writes styles in its own way and leaves out blanks at the end of a row: ours goes once more through it.
        const ours = written(Output, size, writes);
        expect(written(InkOutput, size, [[0, 0, ours, { transformers: [] }]])).toBe(frame.join("\n"));
        expect(ours.split("\n")).toHaveLength(frame.length);
      }
    },
  );

  test.each<readonly [string, readonly Write[], string]>([
    ["nothing", [], "\n\n"],
    ["a row at its place", [[0, 1, "b", { transformers: [] }]], "\nb\n"],
    ["several rows, indented", [[2, 0, "a\nb", { transformers: [] }]], "  a\n  b\n"],
    ["transformed rows", [[0, 0, "a\nb", { transformers: [(row, index) => `${index}${row}`] }]], "0a\n1b\n"],
    ["no more rows than there are", [[0, 2, "a\nb", { transformers: [] }]], "\n\na"],
  ])("holds %s", (_name, writes, output) => {
    expect(written(Output, { width: 10, height: 3 }, writes)).toBe(output);
  });
});
