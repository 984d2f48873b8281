import { readdirSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import type { EngineEvent } from "../../../src/schema/event.ts";
import { cassette } from "../../helpers/cassettes.ts";
import { everyEvent } from "../../helpers/journal.ts";
import { newPlace, type Place, put } from "../../helpers/program.ts";
import { foreignSequences } from "../../helpers/sequences.ts";
import { KEYS, startChat, type Terminal, type TerminalOptions } from "../../helpers/terminal.ts";

const CASSETTES = readdirSync(fileURLToPath(new URL("../../cassettes/", import.meta.url)))
  .filter((name) => name.endsWith(".jsonl"))
  .map((name) => basename(name, ".jsonl"));

const start = (args: readonly string[], options: Partial<TerminalOptions> = {}): Terminal =>
  startChat(["replay", ...args], { place: newPlace(), rows: 50, ...options });

const TIME = Date.parse("2026-01-02T03:04:05.000Z");
const HEAD = { type: "recording", version: 1, createdAt: "t", harness9: "1.2.3", provider: "p", model: "m", tools: [] };

/** The events that are wanted of one of each type, a second apart. */
const slowRecording = (place: Place, isWanted: (event: EngineEvent) => boolean = () => true): string => {
  const lines = everyEvent.filter(isWanted).map((event, index) => ({
    ...event,
    seq: index + 1,
    time: new Date(TIME + index * 1000).toISOString(),
  }));
  return put(place.home, "slow.jsonl", [HEAD, ...lines].map((line) => `${JSON.stringify(line)}\n`).join(""));
};

describe("a replay in a terminal", () => {
  test.each(CASSETTES)("leaves what the chat has shown, and the terminal as it was: %s", async (name) => {
    const terminal = start([cassette(name), "--speed", "max"]);
    const { exitCode } = await terminal.exited;
    await expect(`${terminal.all()}\n`).toMatchFileSnapshot(`../../cassettes/frames/${name}.txt`);
    expect([exitCode, terminal.mode(25), terminal.mode(2004)]).toEqual([0, true, false]);
    expect(foreignSequences(terminal.raw())).toEqual([]);
  });

  test("shows its pace and the keys where the chat has its input", async () => {
    const place = newPlace();
    const terminal = start([slowRecording(place), "--speed", "0.1"], { place });
    await terminal.waitFor("› 0.1×   space pauses   +/- speed   esc ends");
    await terminal.waitFor("waiting for the model");
    terminal.send(" ");
    await terminal.waitFor("› paused · 0.1×");
    terminal.send("+");
    await terminal.waitFor("› paused · 0.25×");
    terminal.send(" ");
    await terminal.waitFor("› 0.25×");
    terminal.send("-");
    await terminal.waitFor("› 0.25×");
    terminal.send("++=");
    await terminal.waitFor("› 2×");
    terminal.send("+++++");
    const { exitCode } = await terminal.exited;
    expect(exitCode).toBe(0);
    expect(terminal.all()).toContain("the replay is over");
  });

  test.each([
    ["escape", KEYS.escape],
    ["q", "q"],
    ["Ctrl+C", "\x03"],
    ["Ctrl+D", "\x04"],
  ])("is left by %s, in the middle of a run and paused", async (_name, key) => {
    const place = newPlace();
    const terminal = start([slowRecording(place), "--speed", "0.01"], { place });
    await terminal.waitFor("› 0.01×");
    terminal.send(" ");
    await terminal.waitFor("› paused");
    terminal.send(key);
    const { exitCode } = await terminal.exited;
    expect([exitCode, terminal.mode(25)]).toEqual([0, true]);
    expect(terminal.screen()).toContain("the replay was stopped");
    expect(terminal.screen()).not.toMatch(/paused|waiting for the model/);
  });

  test("shows what was asked, and no key answers it", async () => {
    const place = newPlace();
    const types = ["run.started", "permission.requested", "run.completed"];
    const file = slowRecording(place, ({ type }) => types.includes(type));
    const terminal = start([file, "--speed", "0.25"], { place });
    await terminal.waitFor(/^\? bash/m);
    terminal.send(" ");
    await terminal.waitFor("› paused");
    expect(terminal.screen()).toContain("a command");
    terminal.send("yn\r");
    terminal.send("q");
    expect((await terminal.exited).exitCode).toBe(0);
    expect(terminal.screen()).not.toMatch(/^\? bash/m);
  });

  test("ends by a signal with its exit code", async () => {
    const place = newPlace();
    const terminal = start([slowRecording(place), "--speed", "0.01"], { place });
    await terminal.waitFor("› 0.01×");
    terminal.kill("SIGTERM");
    expect((await terminal.exited).exitCode).toBe(143);
  });

  test("fits a narrow and low terminal", async () => {
    for (const [columns, rows] of [
      [40, 12],
      [20, 6],
    ] as const) {
      const place = newPlace();
      const terminal = start([slowRecording(place), "--speed", "0.01"], { place, columns, rows });
      await terminal.waitFor("› 0.01×");
      terminal.send("q");
      expect((await terminal.exited).exitCode).toBe(0);
    }
  });

  test("of a recording that breaks off says so, and it is no success", async () => {
    const place = newPlace();
    const whole = readFileSync(cassette("mended"), "utf8");
    const file = put(place.home, "cut.jsonl", whole.slice(0, whole.indexOf('{"type":"run.completed"') - 100));
    const terminal = start([file, "--speed", "max"], { place });
    expect((await terminal.exited).exitCode).toBe(42);
    expect(terminal.all()).toContain("the recording ends in the middle of a run");
  });

  test("prints what is asked for in a format, also in a terminal", async () => {
    const terminal = start([cassette("thought"), "--output-format", "text"]);
    expect((await terminal.exited).exitCode).toBe(0);
    expect(terminal.all()).toContain("Hello!");
    expect(terminal.all()).not.toContain("replay of");
  });

  test("draws what it has room for, however fast it comes", async () => {
    const place = newPlace();
    const [started] = everyEvent;
    const lines = Array.from({ length: 20_000 }, (_, index) => ({
      type: "text.delta",
      text: index % 10 === 9 ? `line ${index}\n\n` : "word ",
      sessionId: started?.sessionId,
      seq: index + 2,
      time: started?.time,
    }));
    const end = { ...everyEvent.at(-1), seq: 30_000, time: started?.time, reason: "completed" };
    const all = [HEAD, { ...started, seq: 1 }, ...lines, end].map((line) => `${JSON.stringify(line)}\n`);
    const terminal = start([put(place.home, "fast.jsonl", all.join("")), "--speed", "max"], { place });
    expect((await terminal.exited).exitCode).toBe(0);
    expect(terminal.all()).toContain("line 19999");
  });
});

const NASTY = [
  "\x1b]52;c;b3duZWQ=\x07",
  "\x1b]0;owned\x07",
  "\x1b[2J\x1b[3J\x1b[H",
  "\x1b[?1049h\x1b[?25l",
  "\x9b2J\x9d0;c1 owned\x9c",
  "\x07\x08\x7f",
  "over\rwritten",
  "a\u202eb",
].join(" safe ");

/** Every text in a value, but for the words that decide and the times. */
const poisoned = (value: unknown, key = ""): unknown => {
  if (typeof value === "string") return KEPT.has(key) ? value : `${NASTY} ${value} ${NASTY}`;
  if (Array.isArray(value)) return value.map((item) => poisoned(item));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, poisoned(inner, name)]));
};

const KEPT = new Set([
  "type",
  "time",
  "sessionId",
  "permissionMode",
  "phase",
  "level",
  "reason",
  "role",
  "decision",
  "kind",
]);

describe("a recording that means ill", () => {
  const hostile = (place: Place): string => {
    const lines = [
      { ...HEAD, createdAt: NASTY, harness9: NASTY, tools: [NASTY] },
      ...everyEvent.map((one) => poisoned(one)),
    ];
    return put(place.home, `evil\x1b]0;owned\x07.jsonl`, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  };

  test.each([
    ["the chat", {}],
    ["the linear chat", { TERM: "dumb" }],
  ])("drives nothing in %s", async (_name, env) => {
    const place = newPlace();
    const terminal = start([hostile(place), "--speed", "max"], { place, env });
    expect((await terminal.exited).exitCode).toBe(0);
    expect(terminal.all()).toContain("the replay is over");
    expect(foreignSequences(terminal.raw())).toEqual([]);
    expect(terminal.raw()).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/);
    expect(terminal.title()).not.toContain("owned");
  });
});

describe("the linear replay", () => {
  test("tells what happened in sentences, without a control character", async () => {
    const terminal = start([cassette("mended"), "--speed", "max"], { env: { TERM: "dumb" } });
    expect((await terminal.exited).exitCode).toBe(0);
    expect(terminal.raw()).not.toMatch(/[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/);
    await expect(`${terminal.all()}\n`).toMatchFileSnapshot("../../cassettes/frames/mended-linear.txt");
  });

  test("is left by Ctrl+C", async () => {
    const place = newPlace();
    const file = slowRecording(place);
    const terminal = start([file, "--speed", "0.01"], { place, env: { TERM: "dumb" } });
    await terminal.waitFor("Ctrl+C ends it");
    terminal.send("\x03");
    expect((await terminal.exited).exitCode).toBe(0);
    expect(terminal.all()).toContain("the replay was stopped");
  });
});
