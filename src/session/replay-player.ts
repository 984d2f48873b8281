import { setImmediate } from "node:timers/promises";
import type { EngineEvent } from "../schema/event.ts";

/** How much faster than it happened; `max` waits for nothing. */
export type Pace = number | "max";

/** Plays recorded events. Whoever reads them gets each when its time has come. */
export interface Player {
  readonly events: AsyncIterable<EngineEvent>;
  readonly pace: Pace;
  readonly isPaused: boolean;
  /** The clock of what is played, in milliseconds since the epoch. */
  now(): number;
  pauseOrGoOn(): void;
  faster(): void;
  slower(): void;
  /** Ends the events. */
  stop(): void;
}

export type PlayerOptions = {
  readonly pace: Pace;
  /** Milliseconds. */
  readonly now: () => number;
};

/** While nothing runs, or a question waits for a person, nobody wants to wait longer than this. */
const MAX_IDLE_MS = 2000;
/** So long without a turn of the event loop at most: keys and frames want theirs. */
const SLICE_MS = 10;
/** Longer timers end at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

const PACES: readonly Pace[] = [0.25, 0.5, 1, 2, 4, 8, 16, "max"];

export const createPlayer = (source: AsyncIterable<EngineEvent>, options: PlayerOptions): Player => {
  const { now } = options;
  let { pace } = options;
  let isPaused = false;
  let isStopped = false;
  /** The played clock stood here when the real one stood there. */
  let playedMs: number | undefined;
  let sinceMs = now();
  /** When the event loop last had a turn. */
  let turnedMs = now();
  let wake = (): void => undefined;

  const current = (): number => {
    const played = playedMs ?? 0;
    return isPaused || pace === "max" || playedMs === undefined ? played : played + (now() - sinceMs) * pace;
  };
  const set = (atMs: number): void => {
    playedMs = atMs;
    sinceMs = now();
  };
  /** The clock goes on from where it stands, in another way. */
  const change = (how: () => void): void => {
    const atMs = current();
    how();
    if (playedMs !== undefined) set(atMs);
    wake();
  };

  /** Resolves when the played clock has come to this time, or the player is stopped. */
  const reach = async (atMs: number, longestMs: number): Promise<void> => {
    set(playedMs === undefined ? atMs : Math.max(current(), atMs - longestMs));
    while (!isStopped && (isPaused || (pace !== "max" && current() < atMs))) {
      const leftMs = isPaused || pace === "max" ? MAX_TIMER_MS : (atMs - current()) / pace;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, Math.min(MAX_TIMER_MS, Math.ceil(leftMs)));
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      turnedMs = now();
    }
    if (pace === "max") set(Math.max(current(), atMs));
  };

  async function* play(): AsyncGenerator<EngineEvent> {
    const idle = createIdle();
    for await (const event of source) {
      await reach(Date.parse(event.time), idle.isIdle ? MAX_IDLE_MS : Number.POSITIVE_INFINITY);
      idle.take(event);
      if (now() - turnedMs >= SLICE_MS) {
        await setImmediate();
        turnedMs = now();
      }
      if (isStopped) return;
      yield event;
    }
  }

  const step = (by: 1 | -1): void =>
    change(() => {
      const next = by > 0 ? PACES.find((one) => isAbove(one, pace)) : PACES.findLast((one) => isAbove(pace, one));
      pace = next ?? pace;
    });

  return {
    events: play(),
    get pace() {
      return pace;
    },
    get isPaused() {
      return isPaused;
    },
    now: current,
    pauseOrGoOn: () =>
      change(() => {
        isPaused = !isPaused;
      }),
    faster: () => step(1),
    slower: () => step(-1),
    stop: () => {
      isStopped = true;
      wake();
    },
  };
};

const isAbove = (a: Pace, b: Pace): boolean => b !== "max" && (a === "max" || a > b);

/** Whether the program waited for a person when these events had happened. */
const createIdle = () => {
  let isRunning = false;
  const asked = new Set<string>();
  return {
    get isIdle(): boolean {
      return !isRunning || asked.size > 0;
    },
    take: (event: EngineEvent): void => {
      switch (event.type) {
        case "run.started":
          isRunning = true;
          break;
        case "run.completed":
          isRunning &&= event.parentToolCallId !== undefined;
          asked.clear();
          break;
        case "permission.requested":
          asked.add(event.toolCallId);
          break;
        case "permission.resolved":
          asked.delete(event.toolCallId);
      }
    },
  };
};
