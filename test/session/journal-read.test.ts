import fc from "fast-check";
import { expect, test } from "vitest";
import type { EngineEventBody } from "../../src/schema/event.ts";
import { isJournaled, journalLine } from "../../src/session/journal.ts";
import { NewerJournalError, readJournal } from "../../src/session/journal-read.ts";
import { at, entriesOf, everyEvent, readAll } from "../helpers/journal.ts";

const events = everyEvent.filter(isJournaled);
const HEADER = '{"type":"session","version":1,"id":"i","workDir":"/w","createdAt":"t","harness9":"1"}\n';
const JOURNAL = Buffer.from(HEADER + events.map(journalLine).join(""));
const HEADER_ENTRY = JSON.parse(HEADER) as unknown;

const cut = (bytes: Uint8Array, at: readonly number[]): readonly Uint8Array[] => {
  const places = [0, ...[...at].sort((a, b) => a - b), bytes.length];
  return places.slice(1).map((end, index) => bytes.subarray(places[index], end));
};

test("however a journal is cut into pieces, it reads the same", async () => {
  const places = fc.array(fc.nat(JOURNAL.length), { maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(places, async (at) => {
      expect(entriesOf(await readAll(cut(JOURNAL, at)))).toEqual([HEADER_ENTRY, ...events]);
    }),
    { numRuns: 100 },
  );
});

test("any prefix of a journal reads as a prefix of its entries, with at most one torn line", async () => {
  const all = [HEADER_ENTRY, ...events];
  // Every length: the cuts in the middle of a character are among them.
  for (let length = 0; length <= JOURNAL.length; length += 1) {
    const items = await readAll([JOURNAL.subarray(0, length)]);
    const entries = entriesOf(items);
    const begun = JOURNAL.subarray(0, length)
      .toString("latin1")
      .split("\n")
      .filter((line) => line !== "").length;
    expect(entries).toEqual(all.slice(0, entries.length));
    expect(items.slice(entries.length)).toEqual(begun > entries.length ? [{ type: "skipped", reason: "torn" }] : []);
  }
}, 60_000);

test("a line that cannot be understood is skipped and counted, and the rest is read", async () => {
  const notice = (text: string) => at({ type: "notice", level: "info", text } as EngineEventBody<"notice">);
  const [first, second] = [notice("one"), notice("two")].filter(isJournaled);
  if (!first || !second) throw new Error("no events");
  const text = [
    journalLine(first),
    "not json\n",
    "\n",
    '{"type":"later"}\r\n',
    `${"x".repeat(2000)}\n`,
    journalLine(first),
    journalLine(second).replace("\n", "\r\n"),
  ];
  const pieces = [...text.map((one) => Buffer.from(one)), Buffer.from([0x22, 0xff, 0xfe, 0x22, 0x0a])];
  expect(await readAll(pieces, 1000)).toEqual([
    { type: "entry", entry: first, line: JSON.stringify(first) },
    { type: "skipped", reason: "corrupt" },
    { type: "unknown", line: '{"type":"later"}' },
    { type: "skipped", reason: "too-long" },
    { type: "skipped", reason: "repeated" },
    { type: "entry", entry: second, line: JSON.stringify(second) },
    { type: "skipped", reason: "corrupt" },
  ]);
});

test("an empty journal holds nothing", async () => {
  expect(await readAll([])).toEqual([]);
  expect(await readAll([Buffer.alloc(0)])).toEqual([]);
});

test("a journal of a newer version is refused", async () => {
  const reading = readAll([Buffer.from(HEADER.replace('"version":1', '"version":9'))]);
  await expect(reading).rejects.toEqual(new NewerJournalError(9));
});

test("a child session counts for itself", async () => {
  const parent = at({ type: "notice", level: "info", text: "parent" });
  const child = { ...parent, sessionId: "child", seq: 1, parentToolCallId: "c1" };
  const lines = [parent, child, parent].filter(isJournaled).map((event) => Buffer.from(journalLine(event)));
  expect((await readAll(lines)).map(({ type }) => type)).toEqual(["entry", "entry", "skipped"]);
});

test("100 MB are read in bounded memory, one endless line included", async () => {
  const line = Buffer.from(journalLine(at({ type: "notice", level: "info", text: "x".repeat(1000) }) as never));
  const garbage = Buffer.alloc(1_048_576, "x");
  const pieces = function* (): Generator<Uint8Array> {
    for (let count = 0; count < 50; count += 1) yield garbage;
    yield Buffer.from("\n");
    for (let count = 0; count < 50_000; count += 1) yield line;
  };
  let peak = 0;
  let skipped = 0;
  const before = process.memoryUsage().arrayBuffers;
  for await (const item of readJournal(pieces(), 4_194_304)) {
    if (item.type === "skipped") skipped += 1;
    if (skipped % 5000 === 1) peak = Math.max(peak, process.memoryUsage().arrayBuffers - before);
  }
  expect(skipped).toBe(50_000);
  expect(peak).toBeLessThan(64 * 1_048_576);
}, 60_000);
