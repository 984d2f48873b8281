import type { EngineEvent } from "../schema/event.ts";
import { NO_USAGE } from "../schema/model.ts";

/** What is known of the run that goes on. */
type OpenRun = Pick<EngineEvent<"run.completed">, "turns" | "contextMessages" | "usage" | "costUsd"> & {
  readonly startedAt: string;
};

/** Follows recorded events, to give the last run an end where the recording has none. */
export interface ReplayEnd {
  add(event: EngineEvent): void;
  /** The end that a recording lacks which breaks off in a run; it is an error, since nobody knows how the run ended. */
  missing(message: string): EngineEvent<"run.completed"> | undefined;
}

export const createReplayEnd = (): ReplayEnd => {
  let open: OpenRun | undefined;
  let last: EngineEvent | undefined;
  return {
    add: (event) => {
      if (event.parentToolCallId !== undefined) return;
      last = event;
      switch (event.type) {
        case "run.started":
          open = { startedAt: event.time, turns: 0, contextMessages: 0, usage: NO_USAGE, costUsd: null };
          break;
        case "turn.started":
          open &&= { ...open, turns: event.turn ?? open.turns, contextMessages: event.contextMessages };
          break;
        case "usage.updated":
          open &&= { ...open, usage: event.total, costUsd: event.costUsd };
          break;
        case "run.completed":
          open = undefined;
      }
    },
    missing: (message) => {
      if (!open || !last) return undefined;
      const { startedAt, ...figures } = open;
      return {
        type: "run.completed",
        sessionId: last.sessionId,
        seq: last.seq + 1,
        time: last.time,
        reason: "error",
        text: "",
        ...figures,
        durationMs: Math.max(0, Date.parse(last.time) - Date.parse(startedAt)),
        permissionDenials: [],
        error: { kind: "input", message },
      };
    },
  };
};
