import type { EngineEvent } from "../schema/event.ts";
import type { Attachment, Message } from "../schema/message.ts";
import type { ToolCall } from "../schema/tool.ts";
import type { JournalEntry, Restores } from "./journal.ts";

/** One input of the person and what came of it: a run, or a command of their own between runs. */
export type Turn = {
  readonly type: "run" | "shell";
  /** Of the event that began it: its `run.started`, or the command's `tool.started`. */
  readonly seq: number;
  readonly time: string;
  /** As it was typed; a command without its `!`. */
  readonly text: string;
  readonly attachments?: readonly Attachment[];
  /** How many messages the history had before it, without the system prompt. */
  readonly messagesBefore: number;
};

/** What happened to the files between two snapshots, in a turn or by going back. */
export type FileStep = {
  /** The turn's; null where files were restored. */
  readonly turn: number | null;
  /** The newest event at its beginning: by it the steps are in order with the turns. */
  readonly at: number;
  readonly before: string;
  /** Null until it is known. */
  readonly after: string | null;
};

/** A way back that was gone. */
export type Rewind = {
  readonly time: string;
  readonly before: number;
  readonly restores: Restores;
  /** How the turn's text began. */
  readonly text: string;
};

type Undoable = Rewind & {
  /** Index of the step in which it restored files; null where it restored none. */
  readonly step: number | null;
  readonly messages: readonly Message[];
  readonly turns: readonly Turn[];
};

/** All that a session must know to go on. */
export type TurnsState = {
  readonly turns: readonly Turn[];
  readonly steps: readonly FileStep[];
  readonly rewinds: readonly Rewind[];
  readonly undoable: readonly Undoable[];
  readonly untold: readonly Restores[];
  /** The number of the newest event. */
  readonly newest: number;
};

/** The turns of a session's conversation, and what they did to its files. */
export interface Turns {
  /** An event, when the history has what it tells of, or an entry. Going back and forth changes the history. */
  add(entry: JournalEntry | EngineEvent): void;
  /** Those that the history has, the oldest first. */
  list(): readonly Turn[];
  find(seq: number): Turn | undefined;
  /** The `seq` of the turn that goes on. */
  going(): number | undefined;
  /** The steps since the turn began, the oldest first; all without one. */
  steps(since?: number): readonly FileStep[];
  /** The turn's own step. */
  stepOf(seq: number): FileStep | undefined;
  /** What `redo` takes back, with the steps since then: the newest way back, until the next input. */
  undoable(): { readonly rewind: Rewind; readonly steps: readonly FileStep[] } | undefined;
  /** The ways back that count, the oldest first. */
  rewinds(): readonly Rewind[];
  /** What has been restored since the model was last spoken to. */
  untold(): readonly Restores[];
  state(): TurnsState;
}

/** The ids of the calls that a person's own commands make begin so. */
const PERSON_CALL = "person_";

const NONE: TurnsState = { turns: [], steps: [], rewinds: [], undoable: [], untold: [], newest: 0 };
const MAX_TEXT = 400;

/** Follows a session by its events and entries. `history`: its messages, which going back and forth cuts and restores. */
export const createTurns = (history: Message[], past: TurnsState = NONE): Turns => {
  const turns = [...past.turns];
  const steps = [...past.steps];
  const rewinds = [...past.rewinds];
  let undoable = [...past.undoable];
  let untold = [...past.untold];
  let { newest } = past;
  let run: { readonly seq: number; readonly time: string; hasInput: boolean } | undefined;
  let shell: { readonly seq: number; readonly callId: string } | undefined;
  /** A command that began while a run seemed to go on: that run may have been killed. */
  let beside: Turn | undefined;

  const prefix = (): number => (history[0]?.role === "system" ? 1 : 0);
  const count = (): number => history.length - prefix();
  const begin = (turn: Turn): void => {
    turns.push(turn);
    undoable = [];
  };

  const started = ({ seq, time, call }: EngineEvent<"tool.started">): void => {
    if (!call.id.startsWith(PERSON_CALL)) return;
    const turn: Turn = { type: "shell", seq, time, text: commandOf(call), messagesBefore: count() };
    if (run) beside = turn;
    else {
      begin(turn);
      shell = { seq, callId: call.id };
    }
  };

  const input = ({ content, source, attachments }: EngineEvent<"input.added">): void => {
    if (source === "hook" || source === "reminder") return;
    if (!run) {
      // What a person's own command has said: what was cut does not fit behind it.
      undoable = [];
      return;
    }
    untold = [];
    if (run.hasInput) return;
    run.hasInput = true;
    const { seq, time } = run;
    const text = content;
    begin({ type: "run", seq, time, text, ...(attachments && { attachments }), messagesBefore: count() - 1 });
  };

  const snapshot = ({ at, id, startedBy }: Extract<JournalEntry, { type: "snapshot" }>): void => {
    const last = steps.at(-1);
    // Where a step has no end of its own, it ends where the next one begins.
    if (last?.after === null) steps[steps.length - 1] = { ...last, after: id };
    if (at === "after") return;
    if (beside && beside.seq === startedBy) {
      run = undefined;
      begin(beside);
      beside = undefined;
    }
    steps.push({ turn: startedBy ?? null, at: startedBy ?? newest, before: id, after: null });
  };

  const rewind = ({ time, before, restores }: Extract<JournalEntry, { type: "rewind" }>): void => {
    run = undefined;
    shell = undefined;
    const index = turns.findIndex(({ seq }) => seq === before);
    const turn = turns[index];
    if (!turn) return;
    const isCut = restores !== "files";
    const done = { time, before, restores, text: turn.text.slice(0, MAX_TEXT) };
    undoable.push({
      ...done,
      step: restores !== "conversation" && steps.at(-1)?.turn === null ? steps.length - 1 : null,
      messages: isCut ? history.splice(prefix() + turn.messagesBefore) : [],
      turns: isCut ? turns.splice(index) : [],
    });
    rewinds.push(done);
    untold.push(restores);
  };

  const redo = (): void => {
    const last = undoable.pop();
    if (!last) return;
    history.push(...last.messages);
    turns.push(...last.turns);
    rewinds.pop();
    untold.pop();
  };

  return {
    add: (entry) => {
      if ("parentToolCallId" in entry) return;
      if ("seq" in entry) newest = Math.max(newest, entry.seq);
      switch (entry.type) {
        case "run.started":
          run = { seq: entry.seq, time: entry.time, hasInput: false };
          shell = undefined;
          beside = undefined;
          break;
        case "run.completed":
          run = undefined;
          break;
        case "tool.started":
          started(entry);
          break;
        case "tool.completed":
          if (shell?.callId === entry.toolCallId) shell = undefined;
          break;
        case "input.added":
          input(entry);
          break;
        case "snapshot":
          snapshot(entry);
          break;
        case "rewind":
          rewind(entry);
          break;
        case "redo":
          redo();
      }
    },
    list: () => turns,
    find: (seq) => turns.find((turn) => turn.seq === seq),
    going: () => run?.seq ?? shell?.seq,
    steps: (since = 0) => steps.filter(({ at }) => at >= since),
    stepOf: (seq) => steps.find(({ turn }) => turn === seq),
    undoable: () => {
      const last = undoable.at(-1);
      return last && { rewind: last, steps: last.step === null ? [] : steps.slice(last.step) };
    },
    rewinds: () => rewinds,
    untold: () => untold,
    state: () => ({
      turns: [...turns],
      steps: [...steps],
      rewinds: [...rewinds],
      undoable: [...undoable],
      untold: [...untold],
      newest,
    }),
  };
};

/** Whether the program was killed while it restored files: then the newest step is that, and has no end. */
export const isRestoreInterrupted = (turns: TurnsState | undefined): boolean => {
  const last = turns?.steps.at(-1);
  return last?.turn === null && last.after === null;
};

const commandOf = (call: ToolCall): string => {
  try {
    const { command } = JSON.parse(call.arguments) as { readonly command?: unknown };
    return typeof command === "string" ? command : call.arguments;
  } catch {
    // A damaged journal's: the text as it is says more than nothing.
    return call.arguments;
  }
};
