import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createFileHistory } from "../../src/cli/file-history.ts";
import { createChatRewind } from "../../src/cli/rewind.ts";
import type { Engine } from "../../src/engine/engine.ts";
import type { Restores } from "../../src/session/journal.ts";
import { Session } from "../../src/session/session.ts";
import { createSnapshotCore } from "../../src/snapshots/snapshot-core.ts";
import type { Snapshots } from "../../src/snapshots/snapshots.ts";
import { LIMITS } from "../../src/snapshots/take-snapshot.ts";
import { en } from "../../src/text/en.ts";
import type { Invocation } from "../../src/tools/tool.ts";
import { tempDir } from "../helpers/temp-dir.ts";

const SIGNAL = new AbortController().signal;

/** The store without its worker. */
const storeOf = (workDir: string, home: string): Snapshots => {
  const core = createSnapshotCore({
    workDir,
    folder: join(home, "store"),
    harnessHome: home,
    limits: LIMITS,
    now: Date.now,
    startLooking: () => {
      throw new Error("a second thread for a small work directory");
    },
  });
  return {
    take: async () => {
      const { snapshot, save } = core.take(() => false);
      save();
      return snapshot;
    },
    changes: core.changes,
    diff: core.diff,
    plan: core.plan,
    apply: async (plan) => {
      const { restored, kept, undo } = await core.apply(plan);
      return { restored, kept: kept.map(({ path }) => ({ path, reason: "kept" })), undo };
    },
    close: async () => undefined,
  };
};

/** A session whose turns are commands that the test carries out. */
const begin = (folder: string, store: Partial<Snapshots> = {}) => {
  const workDir = join(folder, "work");
  const home = join(folder, "home");
  for (const path of [workDir, home]) mkdirSync(path, { recursive: true });
  const told: string[] = [];
  const files = createFileHistory({
    snapshots: { ...storeOf(workDir, home), ...store },
    session: () => session,
    tell: (text) => told.push(text),
    tellsAll: true,
    strings: en.rewind,
  });
  let turns = 0;
  const session: Session = new Session({
    id: "20260102-030405-abcd",
    systemPrompt: "Be brief.",
    engine: {} as Engine,
    sinks: [files.sink],
    clock: () => new Date(),
    shell: async (command, _signal, emit) => {
      turns += 1;
      const call = { id: `person_${turns}`, name: "bash", arguments: JSON.stringify({ command }) };
      emit({ type: "tool.started", call, display: command });
      const invocation = { tool: { permission: "high" }, context: { signal: SIGNAL } } as unknown as Invocation;
      const result = { toolCallId: call.id, name: "bash", output: "", isError: false };
      await files.middleware(invocation, async () => {
        for (const edit of command.split(";")) carryOut(workDir, edit);
        return result;
      });
      emit({ type: "tool.completed", toolCallId: call.id, name: "bash", result, durationMs: 1 });
      return command;
    },
  });
  const rewind = createChatRewind({ session: () => session, files: () => files, now: Date.now });
  return {
    session,
    rewind,
    told,
    workDir,
    close: files.close,
    /** `a=text` writes a file, `a=` removes it. */
    run: (edits: string) => session.runShell(edits, SIGNAL, () => undefined),
    state: (): Readonly<Record<string, string>> =>
      Object.fromEntries(readdirSync(workDir).map((name) => [name, readFileSync(join(workDir, name), "utf8")])),
  };
};

const carryOut = (workDir: string, edit: string): void => {
  const [name = "", text = ""] = edit.split("=");
  if (text === "") rmSync(join(workDir, name), { force: true });
  else writeFileSync(join(workDir, name), text);
};

const goBack = async ({ rewind }: ReturnType<typeof begin>, index: number, restores: Restores) => {
  const turn = (await rewind.turns()).toReversed()[index];
  if (!turn) throw new Error(`no turn ${index}`);
  const way = await rewind.wayBack(turn);
  return { way, done: await way.go(restores) };
};

test("turns tell what they have changed; a diff of one, of the last and of all", async () => {
  const chat = begin(tempDir());
  await chat.run("a=1\n");
  await chat.run("a=2\n;b=x\n");
  const turns = await chat.rewind.turns();
  expect(
    turns.map(({ number, text, changes }) => [number, text, changes?.map(({ path, kind }) => `${kind} ${path}`)]),
  ).toEqual([
    [2, "a=2\n;b=x\n", ["changed a", "added b"]],
    [1, "a=1\n", ["added a"]],
  ]);
  const diffOf = async (...scope: Parameters<typeof chat.rewind.diff>) => {
    const found = await chat.rewind.diff(...scope);
    return found && [found.turn?.number ?? null, found.files?.map(({ change }) => `${change.kind} ${change.path}`)];
  };
  expect(await diffOf({ type: "last" })).toEqual([2, ["changed a", "added b"]]);
  expect(await diffOf({ type: "turn", number: 1 })).toEqual([1, ["added a"]]);
  expect(await diffOf({ type: "session" })).toEqual([null, ["added a", "added b"]]);
  expect(await diffOf({ type: "turn", number: 3 })).toBeNull();
  await chat.run("a=2\n");
  expect(await diffOf({ type: "last" })).toEqual([2, ["changed a", "added b"]]);
});

test("what others have changed is named beforehand, and what they change at the last moment afterwards", async () => {
  const chat = begin(tempDir());
  await chat.run("a=1\n");
  await chat.run("a=2\n;b=2\n;c=2\n");
  carryOut(chat.workDir, "a=mine\n");
  const [turn] = await chat.rewind.turns();
  if (!turn) throw new Error("no turn");
  const way = await chat.rewind.wayBack(turn);
  expect([way.files?.changes.map(({ path }) => path), way.files?.conflicts.map(({ path }) => path)]).toEqual([
    ["b", "c"],
    ["a"],
  ]);
  carryOut(chat.workDir, "b=mine too\n");
  const done = await way.go("files");
  expect([done.files, done.kept.map(({ path }) => path)]).toEqual([1, ["b"]]);
  expect(chat.state()).toEqual({ a: "mine\n", b: "mine too\n" });
  await chat.rewind.redo();
  expect(chat.state()).toEqual({ a: "mine\n", b: "mine too\n", c: "2\n" });
});

test("where files cannot be restored the conversation stays too", async () => {
  const chat = begin(tempDir(), { apply: () => Promise.reject(new Error("disk full")) });
  await chat.run("a=1\n");
  const [before, turns] = [[...chat.session.messages], [...chat.session.turns.list()]];
  await expect(goBack(chat, 0, "both")).rejects.toThrow("disk full");
  expect([chat.session.messages, chat.session.turns.list(), chat.state()]).toEqual([before, turns, { a: "1\n" }]);
  expect(chat.rewind.redoable()).toBeNull();
});

test("who leaves while files are restored waits for them, and the state after is kept", async () => {
  const chat = begin(tempDir());
  await chat.run("a=1\n;b=1\n");
  const [turn] = await chat.rewind.turns();
  if (!turn) throw new Error("no turn");
  const way = await chat.rewind.wayBack(turn);
  const done = way.go("files");
  await chat.close();
  expect([chat.state(), chat.session.turns.steps().map(({ after }) => after === null)]).toEqual([{}, [false, false]]);
  expect((await done).files).toBe(2);
});

type Act =
  | { readonly type: "turn"; readonly edits: readonly string[] }
  | { readonly type: "rewind"; readonly index: number; readonly restores: Restores }
  | { readonly type: "redo" };

const name = fc.constantFrom("a", "b", "c", "__proto__");
const edits = fc.array(fc.tuple(name, fc.constantFrom("", "1\n", "2\n", "3\n")), { minLength: 1, maxLength: 3 });
const act: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 3,
    arbitrary: edits.map((made): Act => ({ type: "turn", edits: made.map(([path, text]) => `${path}=${text}`) })),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant("rewind" as const),
      index: fc.nat({ max: 4 }),
      restores: fc.constantFrom<Restores>("both", "conversation", "files"),
    }),
  },
  { weight: 1, arbitrary: fc.constant<Act>({ type: "redo" }) },
);

test("however one goes back and forth, the files are as they were then", { timeout: 60_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(act, { maxLength: 9 }), async (acts) => {
      const folder = tempDir();
      const chat = begin(folder);
      const before = new Map<number, Readonly<Record<string, string>>>();
      let gone: Readonly<Record<string, string>>[] = [];
      for (const one of acts) {
        const now = chat.state();
        if (one.type === "turn") {
          await chat.run(one.edits.join(";"));
          before.set(chat.session.turns.list().at(-1)?.seq ?? 0, now);
          gone = [];
        } else if (one.type === "redo") {
          if (!chat.rewind.redoable()) continue;
          await chat.rewind.redo();
          expect(chat.state()).toEqual(gone.pop());
        } else {
          const turn = chat.session.turns.list()[one.index];
          if (!turn) continue;
          gone.push(now);
          const { done } = await goBack(chat, one.index, one.restores);
          expect(done.kept).toEqual([]);
          expect(chat.state()).toEqual(one.restores === "conversation" ? now : before.get(turn.seq));
        }
      }
      expect(chat.told).toEqual([]);
      rmSync(folder, { recursive: true, force: true });
    }),
    { numRuns: 40 },
  );
});

type Meddling = Act | { readonly type: "outsider"; readonly path: string; readonly isRemoved: boolean };

const meddling: fc.Arbitrary<Meddling> = fc.oneof(
  { weight: 2, arbitrary: act },
  {
    weight: 1,
    arbitrary: fc.record({ type: fc.constant("outsider" as const), path: name, isRemoved: fc.boolean() }),
  },
);

test("what somebody else has written last into a file stays, however one goes back and forth", {
  timeout: 60_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(meddling, { minLength: 4, maxLength: 14 }), async (acts) => {
      const folder = tempDir();
      const chat = begin(folder);
      const theirs = new Map<string, string>();
      for (const [index, one] of acts.entries()) {
        const now = new Map(Object.entries(chat.state()));
        if (one.type === "turn") {
          await chat.run(one.edits.join(";"));
          const after = new Map(Object.entries(chat.state()));
          for (const path of [...theirs.keys()]) if (now.get(path) !== after.get(path)) theirs.delete(path);
        } else if (one.type === "outsider") {
          const text = one.isRemoved ? "" : `theirs ${index}`;
          if (one.isRemoved && !now.has(one.path)) continue;
          carryOut(chat.workDir, `${one.path}=${text}`);
          // What is gone may be as a turn had left it: nobody can tell.
          if (one.isRemoved) theirs.delete(one.path);
          else theirs.set(one.path, text);
        } else if (one.type === "redo") {
          if (chat.rewind.redoable()) await chat.rewind.redo();
        } else if (chat.session.turns.list()[one.index]) await goBack(chat, one.index, one.restores);
        const after = new Map(Object.entries(chat.state()));
        for (const [path, text] of theirs) expect([path, after.get(path)]).toEqual([path, text]);
      }
      rmSync(folder, { recursive: true, force: true });
    }),
    { numRuns: 60 },
  );
});
