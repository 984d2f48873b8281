import type { EngineEvent, RunEndReason, RunError } from "../../schema/event.ts";
import { addUsage, NO_USAGE, type Usage } from "../../schema/model.ts";
import { countsAnew } from "../../session/usage-beside.ts";
import type { FinishedStep, RunningStep } from "./step-lines.ts";

/** What the run waits for. Times are milliseconds of the events' own clock. */
export type Activity =
  | { readonly type: "waiting" | "thinking" | "answering" | "acting"; readonly sinceMs: number }
  | {
      readonly type: "retrying";
      readonly sinceMs: number;
      readonly untilMs: number;
      readonly attempt: number;
      readonly maxAttempts: number;
      readonly reason: string;
    };

/** A tool call that runs. */
export type LiveStep = RunningStep & {
  readonly id: string;
  readonly startedMs: number;
  /** A question about it is open. */
  readonly isAsked: boolean;
  readonly decision?: "refused";
};

export type SessionUsage = {
  readonly usage: Usage;
  /** Null where a price is unknown. */
  readonly costUsd: number | null;
  readonly runs: number;
  readonly turns: number;
  readonly contextTokens: number;
};

/** What can still change on the screen, and the figures. What is finished leaves it as a `Block`. */
export type Transcript = {
  readonly run: { readonly startedMs: number; readonly turn: number; readonly activity: Activity } | null;
  readonly phase: "thinking" | "action";
  readonly steps: readonly LiveStep[];
  /** Calls of this turn that have not begun: they wait for the answer to a question. */
  readonly callsToCome: number;
  readonly thought: { readonly text: string; readonly sinceMs: number } | null;
  readonly isAnswering: boolean;
  /** Of finished runs; `current` is the one that goes on. */
  readonly total: SessionUsage;
  readonly current: SessionUsage;
  readonly stepCount: number;
  /** The newest finished steps, oldest first. */
  readonly recent: readonly FinishedStep[];
  readonly lastThought: string | null;
};

/** Something that is finished and will be printed once, in this order. Text comes in pieces until its end. */
export type Block =
  | { readonly type: "person"; readonly text: string }
  | { readonly type: "text"; readonly delta: string }
  | { readonly type: "text.end"; readonly isDiscarded: boolean }
  | { readonly type: "thought"; readonly text: string; readonly durationMs: number }
  | { readonly type: "step"; readonly step: FinishedStep }
  | { readonly type: "notice"; readonly level: "info" | "warning" | "error"; readonly text: string }
  /** Tokens; more than before where a compaction was taken back. */
  | { readonly type: "compacted"; readonly before: number; readonly after: number }
  | {
      readonly type: "end";
      readonly reason: RunEndReason;
      readonly error?: RunError | undefined;
      readonly durationMs: number;
      readonly denials: readonly string[];
    };

const NOTHING_USED: SessionUsage = { usage: NO_USAGE, costUsd: 0, runs: 0, turns: 0, contextTokens: 0 };

export const NEW_TRANSCRIPT: Transcript = {
  run: null,
  phase: "action",
  steps: [],
  callsToCome: 0,
  thought: null,
  isAnswering: false,
  total: NOTHING_USED,
  current: NOTHING_USED,
  stepCount: 0,
  recent: [],
  lastThought: null,
};

/** Nothing runs, and this is what the session has come to. */
export const settled = (before: Transcript, total: SessionUsage): Transcript => ({
  ...before,
  run: null,
  phase: "action",
  steps: [],
  callsToCome: 0,
  total,
  current: NOTHING_USED,
});

const RECENT_STEPS = 20;
/** The calls that `!command` makes; see person-shell.ts. */
const OWN_COMMANDS = "person_";

export type Change = { readonly transcript: Transcript; readonly blocks: readonly Block[] };

/** What an event changes, and what it finishes. Pure; its cost does not grow with the conversation. */
export const reduce = (before: Transcript, event: EngineEvent): Change => {
  const atMs = Date.parse(event.time);
  switch (event.type) {
    case "run.started":
      return changed(before, {
        run: { startedMs: atMs, turn: 0, activity: { type: "waiting", sinceMs: atMs } },
        // What was spent beside the runs stays spent.
        total: sessionUsage(before),
        current: { ...NOTHING_USED, contextTokens: before.current.contextTokens || before.total.contextTokens },
      });
    case "turn.started":
      return changed(before, withRun(before, { turn: event.turn ?? 0, activity: { type: "waiting", sinceMs: atMs } }));
    case "phase.started":
      return changed(before, { phase: event.phase });
    case "thinking.delta":
      return think(before, event.text, atMs);
    case "text.delta":
      return before.phase === "thinking" ? think(before, event.text, atMs) : answer(before, event.text, atMs);
    case "message.completed":
      return finishMessage({ ...before, callsToCome: event.message.toolCalls.length }, atMs);
    case "tool.started": {
      const { id, name, arguments: text } = event.call;
      const step = { id, name, arguments: text, startedMs: atMs, isAsked: false };
      const callsToCome = id.startsWith(OWN_COMMANDS) ? before.callsToCome : Math.max(0, before.callsToCome - 1);
      return changed(before, { ...active(before, "acting", atMs), steps: [...before.steps, step], callsToCome });
    }
    case "tool.progress":
      return changed(before, withStep(before, event.toolCallId, { progress: event.text }));
    case "permission.requested":
      return changed(before, withStep(before, event.toolCallId, { isAsked: true }));
    case "permission.resolved": {
      const decision = event.decision === "reject" ? ({ decision: "refused" } as const) : {};
      return changed(before, withStep(before, event.toolCallId, { isAsked: false, ...decision }));
    }
    case "tool.completed":
      return finishStep(before, event);
    case "provider.retrying": {
      const { attempt, maxAttempts, delayMs, error, discard } = event;
      const activity = {
        type: "retrying",
        sinceMs: atMs,
        untilMs: atMs + delayMs,
        attempt,
        maxAttempts,
        reason: error.message,
      } as const;
      const retrying = { ...before, ...withRun(before, { activity }) };
      if (!discard) return { transcript: retrying, blocks: [] };
      const blocks: Block[] = before.isAnswering ? [{ type: "text.end", isDiscarded: true }] : [];
      return { transcript: { ...retrying, isAnswering: false, thought: null }, blocks };
    }
    case "usage.updated": {
      const { total, costUsd, contextTokens } = event;
      return changed(before, {
        ...(countsAnew(event) && { total: sessionUsage(before) }),
        current: {
          usage: total,
          costUsd,
          runs: before.run ? 1 : 0,
          turns: event.turn ?? before.current.turns,
          contextTokens,
        },
      });
    }
    case "input.added":
      if (event.source === "queue") return { transcript: before, blocks: [{ type: "person", text: event.content }] };
      if (event.source === "person" || event.source === "stdin") return changed(before, {});
      return { transcript: before, blocks: [{ type: "notice", level: "info", text: event.content }] };
    case "notice":
      return { transcript: before, blocks: [{ type: "notice", level: event.level, text: event.text }] };
    case "run.completed":
      return finishRun(before, event, atMs);
    case "observations.added":
      return changed(before, { callsToCome: 0 });
    case "context.compacted":
      return {
        transcript: { ...before, current: { ...before.current, contextTokens: event.after.tokens } },
        blocks: [{ type: "compacted", before: event.before.tokens, after: event.after.tokens }],
      };
    default:
      return event satisfies never;
  }
};

/** The figures of the whole session. */
export const sessionUsage = ({ total, current }: Transcript): SessionUsage => ({
  usage: addUsage(total.usage, current.usage),
  costUsd: total.costUsd === null || current.costUsd === null ? null : total.costUsd + current.costUsd,
  runs: total.runs + current.runs,
  turns: total.turns + current.turns,
  contextTokens: current.contextTokens || total.contextTokens,
});

const changed = (before: Transcript, change: Partial<Transcript>): Change => ({
  transcript: { ...before, ...change },
  blocks: [],
});

const withRun = ({ run }: Transcript, change: Partial<NonNullable<Transcript["run"]>>): Pick<Transcript, "run"> => ({
  run: run && { ...run, ...change },
});

/** The activity, which keeps its beginning while it stays the same. */
const active = (
  before: Transcript,
  type: Exclude<Activity["type"], "retrying">,
  atMs: number,
): Pick<Transcript, "run"> =>
  before.run?.activity.type === type ? { run: before.run } : withRun(before, { activity: { type, sinceMs: atMs } });

const withStep = ({ steps }: Transcript, toolCallId: string, change: Partial<LiveStep>): Pick<Transcript, "steps"> => ({
  steps: steps.map((step) => (step.id === toolCallId ? { ...step, ...change } : step)),
});

const think = (before: Transcript, text: string, atMs: number): Change => {
  const { text: sofar, sinceMs } = before.thought ?? { text: "", sinceMs: atMs };
  return changed(before, { ...active(before, "thinking", atMs), thought: { text: sofar + text, sinceMs } });
};

const answer = (before: Transcript, delta: string, atMs: number): Change => {
  const finished = finishThought(before, atMs);
  return {
    transcript: { ...before, ...finished.change, ...active(before, "answering", atMs), isAnswering: true },
    blocks: [...finished.blocks, { type: "text", delta }],
  };
};

const finishThought = (
  { thought }: Transcript,
  atMs: number,
): { readonly change: Partial<Transcript>; readonly blocks: readonly Block[] } => {
  if (!thought) return { change: {}, blocks: [] };
  const { text, sinceMs } = thought;
  return {
    change: { thought: null, lastThought: text },
    blocks: [{ type: "thought", text, durationMs: atMs - sinceMs }],
  };
};

const finishMessage = (before: Transcript, atMs: number): Change => {
  const finished = finishThought(before, atMs);
  const end: Block[] = before.isAnswering ? [{ type: "text.end", isDiscarded: false }] : [];
  return {
    transcript: { ...before, ...finished.change, ...active(before, "waiting", atMs), isAnswering: false },
    blocks: [...finished.blocks, ...end],
  };
};

const finishStep = (before: Transcript, event: EngineEvent<"tool.completed">): Change => {
  const { toolCallId, name, result, durationMs } = event;
  // A call that was never started was cut, or cancelled before its turn.
  const { arguments: text, decision } = before.steps.find(({ id }) => id === toolCallId) ?? { arguments: "" };
  const number = before.stepCount + 1;
  const isOwn = toolCallId.startsWith(OWN_COMMANDS);
  const step: FinishedStep = {
    number,
    name,
    arguments: text,
    result,
    durationMs,
    ...(decision && { decision }),
    ...(isOwn && { isOwn }),
  };
  return {
    transcript: {
      ...before,
      steps: before.steps.filter(({ id }) => id !== toolCallId),
      stepCount: number,
      recent: [...before.recent.slice(1 - RECENT_STEPS), step],
    },
    blocks: [{ type: "step", step }],
  };
};

const finishRun = (before: Transcript, event: EngineEvent<"run.completed">, atMs: number): Change => {
  const { reason, error, durationMs, permissionDenials, usage, costUsd, turns } = event;
  const message = finishMessage(before, atMs);
  const denials = permissionDenials.map(({ name }) => name);
  const current = { ...before.current, usage, costUsd, runs: 1, turns };
  return {
    transcript: {
      ...message.transcript,
      run: null,
      callsToCome: 0,
      phase: "action",
      // A command of the person's own goes on beside the runs.
      steps: before.steps.filter(({ id }) => id.startsWith(OWN_COMMANDS)),
      total: sessionUsage({ ...before, current }),
      current: NOTHING_USED,
    },
    blocks: [...message.blocks, { type: "end", reason, error, durationMs, denials }],
  };
};
