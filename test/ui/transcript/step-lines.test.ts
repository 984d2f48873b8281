import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { en } from "../../../src/text/en.ts";
import { zh } from "../../../src/text/zh.ts";
import { ASCII_GLYPHS, UNICODE_GLYPHS } from "../../../src/ui/glyphs.ts";
import { type Line, lineWidth, plainText } from "../../../src/ui/line.ts";
import {
  type FinishedStep,
  type RunningStep,
  runningStepLines,
  stepLines,
} from "../../../src/ui/transcript/step-lines.ts";

const options = { width: 80, glyphs: UNICODE_GLYPHS, strings: en.steps };
const bash = (command: string) => JSON.stringify({ command });
const numbered = (count: number) => Array.from({ length: count }, (_, index) => `line ${index + 1}`).join("\n");

const read: FinishedStep = {
  number: 1,
  name: "read_file",
  arguments: '{"path":"test/date.test.ts"}',
  result: {
    output: "import …",
    isError: false,
    data: { type: "file", path: "test/date.test.ts", bytes: 2000, lines: 84 },
  },
  durationMs: 3,
};

const failedTests: FinishedStep = {
  number: 2,
  name: "bash",
  arguments: bash("npm test -- date"),
  result: {
    output: en.bash.failed(
      "exit status 1",
      `FAIL test/date.test.ts > parses ISO week\nexpected 2026-W53, received 2027-W01\n${numbered(38)}\nTests  1 failed | 27 passed (28)\n`,
    ),
    isError: false,
    data: { type: "command", command: "npm test -- date", exitCode: 1, outputBytes: 4000 },
  },
  durationMs: 2134,
};

const edit: FinishedStep = {
  number: 3,
  name: "edit_file",
  arguments: '{"path":"src/date.ts","source_text":"a","target_text":"b"}',
  result: {
    output: "Edited file: src/date.ts",
    isError: false,
    data: {
      type: "diff",
      path: "src/date.ts",
      added: 2,
      removed: 1,
      hunks: [
        {
          oldStart: 41,
          oldLines: 2,
          newStart: 41,
          newLines: 3,
          lines: [
            "   const day = date.getUTCDay() || 7;",
            "-  const year = date.getUTCFullYear();",
            "+  const thursday = addDays(date, 4 - day);",
            "+  const year = thursday.getUTCFullYear();",
          ],
        },
      ],
    },
  },
  durationMs: 2,
};

const passedTests: FinishedStep = {
  number: 4,
  name: "bash",
  arguments: bash("cd packages/calendar && npm test -- --reporter=dot --run test/date.test.ts test/week.test.ts"),
  result: {
    output: "\n Test Files  2 passed (2)\n      Tests  28 passed (28)\n   Duration  1.2s\n",
    isError: false,
    data: { type: "command", command: "npm test", exitCode: 0, outputBytes: 90 },
  },
  durationMs: 65_210,
};

const silent: FinishedStep = {
  number: 5,
  name: "bash",
  arguments: bash("git add -A\ngit commit -qm 'fix: ISO weeks'"),
  result: {
    output: en.bash.silent,
    isError: false,
    data: { type: "command", command: "git add", exitCode: 0, outputBytes: 0 },
  },
  durationMs: 41,
};

const missing: FinishedStep = {
  number: 6,
  name: "read_file",
  arguments: '{"path":"src/dat.ts","offset":10,"limit":50}',
  result: {
    output:
      "Error executing read_file: Failed to open file: file 'src/dat.ts' does not exist\nNear paths: src/date.ts, src/data.ts",
    isError: true,
  },
  durationMs: 1,
};

const refused: FinishedStep = {
  number: 7,
  name: "bash",
  arguments: bash("git push --force origin main"),
  result: { output: "rejected by the user: push to a branch of your own", isError: true },
  durationMs: 9200,
  decision: "refused",
};

const timedOut: FinishedStep = {
  number: 8,
  name: "bash",
  arguments: bash("npm run dev"),
  result: {
    output: `ready on http://localhost:3000${en.bash.timedOut(30)}`,
    isError: false,
    data: {
      type: "command",
      command: "npm run dev",
      exitCode: null,
      signal: "SIGTERM",
      timedOut: true,
      outputBytes: 30,
    },
  },
  durationMs: 30_004,
};

const elsewhere: FinishedStep = {
  number: 9,
  name: "mcp__github__search_issues",
  arguments: '{"query":"ISO week is wrong at the turn of the year","repo":"shop/calendar","limit":5,"labels":["bug"]}',
  result: { output: '[{"number":12,"title":"week 53"}]', isError: false },
  durationMs: 812,
};

const running: RunningStep = {
  name: "bash",
  arguments: bash("npm test"),
  progress: "\n RUN  v4.1.12\n\n ✓ parses ISO week\n Test Files  11 passed (12)\n",
};

const steps = [read, failedTests, edit, passedTests, silent, missing, refused, timedOut, elsewhere];
const frame = (lines: readonly Line[]) => lines.map(plainText).join("\n");

describe("a transcript of steps", () => {
  test.each([40, 80, 120])("at %i columns is drawn as in its frame", async (width) => {
    const finished = steps.flatMap((step) => stepLines(step, { ...options, width }));
    const live = runningStepLines(running, {
      ...options,
      width,
      spinner: UNICODE_GLYPHS.spinner[2] ?? "",
      elapsedMs: 3240,
      hint: "esc to stop",
    });
    await expect(`${frame([...finished, ...live])}\n`).toMatchFileSnapshot(`../frames/steps/${width}.txt`);
  });

  test("in ASCII and Chinese is drawn as in its frame", async () => {
    const drawn = steps.flatMap((step) => stepLines(step, { width: 80, glyphs: ASCII_GLYPHS, strings: zh.steps }));
    await expect(`${frame(drawn)}\n`).toMatchFileSnapshot("../frames/steps/80-ascii-zh.txt");
  });

  test("opened shows the whole of each call and result", async () => {
    const drawn = steps.flatMap((step) => stepLines(step, { ...options, expanded: true }));
    await expect(`${frame(drawn)}\n`).toMatchFileSnapshot("../frames/steps/80-expanded.txt");
  });
});

describe("stepLines", () => {
  test("the marks, names and figures have their roles, the figures end one cell before the edge", () => {
    const [head] = stepLines(failedTests, options);
    expect(head).toEqual([
      { text: "✗", roles: ["failure"] },
      { text: " " },
      { text: "bash      ", roles: ["bold"] },
      { text: " " },
      { text: "npm test -- date" },
      { text: " ".repeat(36) },
      { text: "exit 1 · 2.1 s", roles: ["dim"] },
    ]);
    expect(lineWidth(head ?? [])).toBe(79);
  });

  test.each([
    ["zh", zh],
    ["en", en],
  ])("of a command's result in %s only what it printed is shown", (_, strings) => {
    const command = (output: string, exitCode: number, outputBytes: number): FinishedStep => ({
      ...silent,
      result: { output, isError: false, data: { type: "command", command: "x", exitCode, outputBytes } },
    });
    const body = (step: FinishedStep) =>
      stepLines(step, { ...options, width: 100, strings: strings.steps })
        .slice(1)
        .map(plainText);
    expect(body(command(strings.bash.failed("exit status 1", "out"), 1, 3))).toEqual(["  │ out"]);
    expect(body(command(strings.bash.failed("exit status 1", ""), 1, 0))).toEqual([]);
    expect(body(command(strings.bash.silent, 0, 0))).toEqual([]);
    expect(body(command(strings.bash.silent + strings.bash.background, 0, 0))).toEqual([
      `  │ ${strings.bash.background.trim()}`,
    ]);
  });

  test.each([
    [{ type: "file", path: "a", bytes: 0, lines: 0 }, "empty · 3 ms"],
    [{ type: "file", path: "a", bytes: 5, lines: 1 }, "1 line · 3 ms"],
    [{ type: "file", path: "a", bytes: 5, lines: 1200, truncated: true }, "1,200 lines, not all · 3 ms"],
    [{ type: "file", path: "a", bytes: 999 }, "999 B · 3 ms"],
    [{ type: "file", path: "a", bytes: 2_345_678 }, "2.3 MB · 3 ms"],
    [{ type: "command", command: "a", exitCode: null, signal: "SIGSEGV", outputBytes: 0 }, "SIGSEGV · 3 ms"],
    [{ type: "json", value: 1 }, "3 ms"],
  ] as const)("%j has the figures %j", (data, figures) => {
    const [head = []] = stepLines({ ...read, result: { output: "", isError: false, data } }, options);
    expect(head.at(-1)?.text).toBe(figures);
  });

  test("a name and arguments cannot fake a line or hide anything", () => {
    const step = { ...read, name: "x\n✓ bash\u202e", arguments: '{"path":"a\\n✓ bash\\u001b[2K"}' };
    expect(stepLines(step, options).map((line) => plainText(line).replace(/ {2,}/g, "  "))).toEqual([
      `✓ x\\u{a}✓ bash\\u{202e} path=a ✓ bash\\u{1b}[2K  84 lines · 3 ms`,
    ]);
  });

  const text = fc
    .array(
      fc.oneof(
        fc.constantFrom("\n", "\t", "\r", "\x1b[2J", "\u202e", "你好", "👩‍👧", "word ", "x".repeat(70), "✓ bash"),
        fc.string({ unit: "binary", maxLength: 12 }),
      ),
      { maxLength: 30 },
    )
    .map((parts) => parts.join(""));
  const data = fc.constantFrom(...steps.map(({ result }) => result.data));

  test("no line is wider than the width, and only the mark stands in the first column", () => {
    const input = fc.record({ name: text, command: text, output: text, isError: fc.boolean(), data });
    fc.assert(
      fc.property(input, fc.integer({ min: 1, max: 130 }), fc.boolean(), (made, width, expanded) => {
        const { name, command, output, isError } = made;
        const result = { output, isError, ...(made.data && { data: made.data }) };
        const call = { name, arguments: JSON.stringify({ command, path: command, other: command }) };
        const lines = [
          ...stepLines({ number: 1, ...call, result, durationMs: 12 }, { ...options, width, expanded }),
          ...runningStepLines(
            { ...call, progress: output },
            { ...options, width, spinner: "⠹", elapsedMs: 700, hint: "esc" },
          ),
        ];
        for (const line of lines) {
          expect(lineWidth(line)).toBeLessThanOrEqual(width);
          expect(plainText(line)).not.toMatch(/[\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069]/u);
          if (width > 3) expect(plainText(line)).toMatch(/^(?:[✓✗⠹](?: |$)| {2}|$)/);
        }
      }),
    );
  });
});

describe("runningStepLines", () => {
  const drawn = (elapsedMs: number) =>
    runningStepLines(running, { ...options, spinner: "⠹", elapsedMs, hint: "esc to stop" }).map(plainText);

  test("nothing but the time changes while it runs", () => {
    expect(drawn(340)[0]).toBe(`⠹ bash       npm test${" ".repeat(39)}0.3 s · esc to stop`);
    expect(drawn(12_340)[0]).toBe(`⠹ bash       npm test${" ".repeat(38)}12.3 s · esc to stop`);
    expect(drawn(65_000)[0]).toBe(`⠹ bash       npm test${" ".repeat(36)}1 m 05 s · esc to stop`);
  });
});
