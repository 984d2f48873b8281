import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { EngineEvent } from "../../src/schema/event.ts";
import { NewerJournalError } from "../../src/session/journal-read.ts";
import { createSecretJoiner, recordingLine } from "../../src/session/recording.ts";
import { drawable, NotReplayableError, type ReplayItem, readReplay } from "../../src/session/recording-read.ts";
import { createMask } from "../../src/text/mask.ts";
import { everyEvent } from "../helpers/journal.ts";

const plain = (text: string): string => text;
const HEAD = {
  type: "recording",
  version: 1,
  createdAt: "2026-01-02T03:04:05.000Z",
  harness9: "1.2.3",
  provider: "p",
  model: "m",
  tools: ["bash"],
} as const;
const READ_HEAD = {
  type: "head",
  head: { createdAt: HEAD.createdAt, harness9: HEAD.harness9, tools: HEAD.tools },
} as const;
const ID = "20260102-030405-abcd";
const TIME = "2026-01-02T03:04:05.000Z";

const fileOf = (...lines: readonly (object | string)[]): Buffer =>
  Buffer.from(lines.map((line) => `${typeof line === "string" ? line : JSON.stringify(line)}\n`).join(""));

const read = async (...pieces: readonly Uint8Array[]): Promise<readonly ReplayItem[]> => {
  const items: ReplayItem[] = [];
  for await (const item of readReplay(pieces)) items.push(item);
  return items;
};

const eventsOf = (items: readonly ReplayItem[]): readonly EngineEvent[] =>
  items.flatMap((item) => (item.type === "event" ? [item.event] : []));

describe("a recording", () => {
  const whole = Buffer.from([HEAD, ...everyEvent].map((line) => recordingLine(line, plain)).join(""));

  test("gives back each event as it was, however the bytes are cut", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(whole.length), { maxLength: 8 }), async (cuts) => {
        const ends = [...cuts.toSorted((a, b) => a - b), whole.length];
        const pieces = ends.map((end, index) => whole.subarray(ends[index - 1] ?? 0, end));
        const items = await read(...pieces);
        expect(items[0]).toEqual(READ_HEAD);
        expect(eventsOf(items)).toEqual(everyEvent);
      }),
      { numRuns: 50 },
    );
  });

  test("that was cut anywhere after its head gives what is whole, and tells of the torn line", async () => {
    const headEnd = whole.indexOf(10) + 1;
    for (let end = headEnd; end < whole.length; end += 97) {
      const cut = whole.subarray(0, end);
      const items = await read(cut);
      const lines = cut.toString("utf8").split("\n").length - 2;
      expect(eventsOf(items)).toEqual(everyEvent.slice(0, lines));
      const isTorn = cut.at(-1) !== 10;
      expect(items.slice(lines + 1).every((item) => item.type === "event" || item.type === "skipped")).toBe(true);
      expect(items.filter(({ type }) => type === "skipped").length).toBeLessThanOrEqual(isTorn ? 1 : 0);
    }
  });

  test("has no control character in it", () => {
    const event = { type: "text.delta", text: "\u009b2J\x1b]0;x\x07\x7f", sessionId: ID, seq: 1, time: TIME } as const;
    expect(recordingLine(event, plain)).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f]/);
    expect(JSON.parse(recordingLine(event, plain))).toEqual(event);
  });
});

describe("what is read", () => {
  const delta = { type: "text.delta", text: "a", sessionId: ID, seq: 1, time: TIME };
  const end = everyEvent.find(({ type }) => type === "run.completed");
  const asked = everyEvent.find(({ type }) => type === "permission.requested");
  const started = everyEvent.find(({ type }) => type === "run.started");

  test.each<[string, object | string]>([
    ["text that is no JSON", "{"],
    ["no object", "[1]"],
    ["a delta without text", { ...delta, text: 1 }],
    ["a time that is none", { ...delta, time: "yesterday" }],
    ["an end of a reason that nobody knows", { ...end, reason: "\x1b[2J" }],
    ["an error of a kind that nobody knows", { ...end, error: { kind: "boredom", message: "" } }],
    ["a mode that would be drawn", { ...started, permissionMode: "\x1b]0;owned\x07" }],
    ["a question whose offers are none", { ...asked, question: { kind: "permission", offers: 5 } }],
    ["a notice of no level", { type: "notice", level: "loud", text: "", sessionId: ID, seq: 1, time: TIME }],
  ])("skips a line with %s", async (_name, line) => {
    expect(await read(fileOf(HEAD, line, delta))).toEqual([
      READ_HEAD,
      { type: "skipped", isTorn: false },
      { type: "event", event: delta },
    ]);
  });

  test("leaves out kinds of a later version, and a second head", async () => {
    expect(await read(fileOf(HEAD, { type: "future" }, HEAD, { type: "mode", time: TIME, mode: "ask" }))).toEqual([
      READ_HEAD,
    ]);
  });

  test("takes a journal as well", async () => {
    const session = { type: "session", version: 1, id: ID, workDir: "/w", createdAt: TIME, harness9: "1.2.3" };
    expect(await read(fileOf(session, { type: "system", content: "Be brief." }, started ?? {}))).toEqual([
      { type: "head", head: { createdAt: TIME, harness9: "1.2.3", tools: [] } },
      { type: "event", event: started },
    ]);
  });

  test.each([
    ["nothing", Buffer.alloc(0)],
    ["no head", fileOf(delta)],
    ["a head without its fields", fileOf({ type: "recording", version: 1 })],
    ["a head without a version", fileOf({ ...HEAD, version: "1" })],
    ["text", Buffer.from("hello\nworld\n")],
    ["bytes", Buffer.from([0xff, 0xfe, 0, 10, 0x80])],
  ])("refuses %s", async (_name, bytes) => {
    await expect(read(bytes)).rejects.toThrow(NotReplayableError);
  });

  test("refuses a recording of a newer version", async () => {
    await expect(read(fileOf({ ...HEAD, version: 2, tools: 1 }))).rejects.toThrow(NewerJournalError);
  });

  test("never throws anything else, whatever stands in the lines", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(fc.jsonValue(), fc.constantFrom(...everyEvent))), async (values) => {
        const items = await read(fileOf(HEAD, ...values.map((value) => JSON.stringify(value))));
        expect(items[0]).toEqual(READ_HEAD);
      }),
      { numRuns: 50 },
    );
  });
});

test("data that cannot be drawn is left out, all else stays", () => {
  const event = everyEvent.find((one) => one.type === "tool.completed");
  if (event?.type !== "tool.completed") throw new Error("no such event");
  expect(drawable(event)).toBe(event);
  const { data: _data, ...result } = event.result;
  const broken = { ...event, result: { ...result, data: { type: "diff", path: "a", hunks: 5 } } } as unknown;
  expect(drawable(broken as EngineEvent)).toEqual({ ...event, result });
});

describe("a secret in deltas", () => {
  const SECRETS = ["sk-secret-1234", "sk-secret-1234-longer", "ababab-key"];
  const mask = createMask(new Map(SECRETS.map((value, index) => [`KEY_${index}`, value])));
  const piece = fc.constantFrom("a", "ab", "-", "sk-", "secret", "1234", "-longer", "-key", " and ", ...SECRETS);

  test("is masked however it is cut, nothing is lost, and the order stays", () => {
    fc.assert(
      fc.property(fc.array(piece), fc.array(fc.integer({ min: 1, max: 5 })), (pieces, sizes) => {
        const text = pieces.join("");
        const events = cut(text, sizes);
        const joiner = createSecretJoiner(() => SECRETS);
        const given = [...events.flatMap(joiner.push), ...joiner.flush()];
        const texts = given.flatMap((event) => (event.type === "text.delta" ? [event.text] : []));
        expect(texts.join("")).toBe(text);
        expect(texts.map(mask).join("")).toBe(mask(text));
        expect(given.at(-1)).toEqual(events.at(-1));
        expect(given.map(({ seq }) => seq)).toEqual(given.map(({ seq }) => seq).toSorted((a, b) => a - b));
      }),
    );
  });

  /** Deltas of these sizes, and an event after them. */
  const cut = (text: string, sizes: readonly number[]): readonly EngineEvent[] => {
    const events: EngineEvent[] = [];
    for (let start = 0, index = 0; start < text.length; index += 1) {
      const size = sizes[index % Math.max(1, sizes.length)] ?? 3;
      const place = { sessionId: ID, seq: index + 1, time: TIME };
      events.push({ type: "text.delta", text: text.slice(start, start + size), ...place });
      start += size;
    }
    return [...events, { type: "notice", level: "info", text: "", sessionId: ID, seq: events.length + 1, time: TIME }];
  };
});
