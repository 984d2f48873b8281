import fc from "fast-check";
import { expect, test } from "vitest";
import type { EngineEventBody } from "../../src/schema/event.ts";
import type { JournalEntry, JournaledEvent, Restores } from "../../src/session/journal.ts";
import { createRecent } from "../../src/session/recent.ts";
import { runStarted } from "../helpers/run-started.ts";

const TIME = "2026-01-02T03:04:05.000Z";

/** A journal in the making. */
const journal = () => {
  const recent = createRecent();
  let seq = 0;
  const event = (body: EngineEventBody): number => {
    seq += 1;
    recent.add({ ...body, sessionId: "s", seq, time: TIME } as JournaledEvent);
    return seq;
  };
  const entry = (one: JournalEntry): void => recent.add(one);
  return {
    /** Returns the number of its `run.started`. */
    run: (text: string, turns = 1): number => {
      const start = event(runStarted);
      event({ type: "input.added", content: text, source: "person" });
      for (let turn = 1; turn <= turns; turn += 1) event({ type: "turn.started", turn, contextMessages: 1 });
      return start;
    },
    rewind: (before: number, restores: Restores) => entry({ type: "rewind", time: TIME, before, restores }),
    redo: () => entry({ type: "redo", time: TIME }),
    shown: () => {
      const { events, turnsBefore } = recent.get();
      return [events.flatMap((one) => (one.type === "input.added" ? [one.content] : [])), turnsBefore] as const;
    },
  };
};

test("of a long conversation the end is held, and how many turns came before", () => {
  const { run, shown } = journal();
  for (const text of ["one", "two", "three", "four", "five"]) run(text, 2);
  expect(shown()).toEqual([["four", "five"], 4]);
});

test("what was gone back behind is not shown, what came before it is, and redo brings it back", () => {
  const { run, rewind, redo, shown } = journal();
  const starts = ["one", "two", "three", "four", "five"].map((text) => run(text));
  rewind(starts[3] ?? 0, "both");
  expect(shown()).toEqual([["one", "two", "three"], 0]);
  rewind(starts[1] ?? 0, "conversation");
  rewind(starts[0] ?? 0, "files");
  expect(shown()).toEqual([["one"], 0]);
  redo();
  redo();
  expect(shown()).toEqual([["one", "two", "three"], 0]);
  redo();
  expect(shown()).toEqual([["two", "three", "four", "five"], 1]);
  rewind(starts[3] ?? 0, "both");
  run("other");
  expect(shown()).toEqual([["one", "two", "three", "other"], 0]);
});

test("the turns that are shown and those before are as many as there are", () => {
  const act = fc.oneof(fc.constant("run"), fc.constant("rewind"), fc.constant("redo"));
  fc.assert(
    fc.property(fc.array(fc.tuple(act, fc.nat()), { maxLength: 150 }), (acts) => {
      const { run, rewind, redo, shown } = journal();
      let there: number[] = [];
      let gone: number[][] = [];
      for (const [what, number] of acts) {
        if (what === "run") {
          there.push(run("x"));
          gone = [];
        } else if (what === "redo") {
          redo();
          there.push(...(gone.pop() ?? []));
        } else if (there.length > 0) {
          const index = number % there.length;
          rewind(there[index] ?? 0, "both");
          gone.push(there.slice(index));
          there = there.slice(0, index);
        }
        const [texts, before] = shown();
        expect(before).toBeGreaterThanOrEqual(0);
        expect(before + texts.length).toBeLessThanOrEqual(there.length + 1);
      }
    }),
  );
});
