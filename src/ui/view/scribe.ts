import type { EngineEvent } from "../../schema/event.ts";
import type { Line } from "../line.ts";
import type { Paper } from "../transcript/paper.ts";
import { type Block, NEW_TRANSCRIPT, reduce, type SessionUsage, settled } from "../transcript/transcript.ts";
import type { Store } from "./view-state.ts";

/** 15 a second: text flows, and a slow terminal keeps up. */
const FRAME_MS = 66;
/** Numbers that change faster cannot be read. */
const TICK_MS = 250;

export type ScribeOptions = {
  readonly store: Store;
  readonly paper: Paper;
  /** Writes finished lines above the live region. */
  readonly print: (lines: readonly Line[]) => void;
  readonly now: () => number;
};

/** Turns events into what is seen: many deltas become one frame, and what is finished is printed once. */
export interface Scribe {
  take(event: EngineEvent): void;
  /** A block of our own, in its place among the others. */
  add(block: Block): void;
  /** Lines of our own, as a command's answer. */
  say(lines: readonly Line[]): void;
  /** Begins on an empty transcript. */
  restart(): void;
  /** The past of a session has been shown: nothing of it runs, and this is what it has come to. */
  settle(total: SessionUsage): void;
  /** Shows at once what is waiting. */
  flush(): void;
}

export const createScribe = ({ store, paper, print, now }: ScribeOptions): Scribe => {
  let { transcript } = store.get();
  let blocks: Block[] = [];
  let frame: NodeJS.Timeout | undefined;
  let ticker: NodeJS.Timeout | undefined;
  let lastFrameMs = 0;

  const flush = (): void => {
    clearTimeout(frame);
    frame = undefined;
    lastFrameMs = now();
    const lines = paper.write(blocks);
    blocks = [];
    if (lines.length > 0) print(lines);
    keepTicking();
    store.set({ transcript, liveText: paper.live(), isSpaced: paper.isSpaced() });
  };

  /** The clock of what is shown: it goes only while something runs. */
  const keepTicking = (): void => {
    const isBusy = transcript.run !== null || transcript.steps.length > 0;
    if (isBusy && ticker === undefined) {
      store.set({ nowMs: now() });
      ticker = setInterval(() => store.set({ nowMs: now(), tick: store.get().tick + 1 }), TICK_MS);
    }
    if (!isBusy) {
      clearInterval(ticker);
      ticker = undefined;
    }
  };

  const add = (block: Block): void => {
    const last = blocks.at(-1);
    if (block.type === "text" && last?.type === "text")
      blocks[blocks.length - 1] = { type: "text", delta: last.delta + block.delta };
    else blocks.push(block);
    schedule();
  };

  const schedule = (): void => {
    frame ??= setTimeout(flush, Math.max(0, lastFrameMs + FRAME_MS - now()));
  };

  return {
    take: (event) => {
      const change = reduce(transcript, event);
      transcript = change.transcript;
      for (const block of change.blocks) add(block);
      schedule();
    },
    add: (block) => {
      add(block);
      flush();
    },
    say: (lines) => {
      flush();
      print(paper.say(lines));
    },
    restart: () => {
      transcript = NEW_TRANSCRIPT;
      flush();
    },
    settle: (total) => {
      transcript = settled(transcript, total);
      flush();
    },
    flush,
  };
};
