import type { JournalEntry, JournaledEvent } from "./journal.ts";

/** The end of the conversation, and how many turns came before it. */
export type RecentEvents = { readonly events: readonly JournaledEvent[]; readonly turnsBefore: number };

/** Enough to see where one was. */
const SHOWN_PARTS = 8;
/** So many are held: whoever goes back wants to see what came before that. */
const KEPT_PARTS = 64;

/** A beginning of a run or a turn, whole. */
type Part = readonly JournaledEvent[];

/** Reads a journal's entries in order, for the newest runs' beginnings and turns. What was gone back behind is not among them. */
export const createRecent = () => {
  let parts: JournaledEvent[][] = [];
  /** By `seq`. */
  let turns: number[] = [];
  let cut: { readonly parts: readonly Part[]; readonly turns: readonly number[] }[] = [];

  const cutBefore = (seq: number): void => {
    const isGone = (event: JournaledEvent): boolean => event.seq >= seq;
    cut.push({ parts: filled(parts, isGone), turns: turns.filter((turn) => turn >= seq) });
    parts = filled(parts, (event) => !isGone(event));
    turns = turns.filter((turn) => turn < seq);
  };

  const restore = (): void => {
    const last = cut.pop();
    parts = [...parts, ...(last?.parts ?? []).map((part) => [...part])];
    turns = [...turns, ...(last?.turns ?? [])];
  };

  return {
    add: (entry: JournalEntry): void => {
      if (entry.type === "rewind") {
        if (entry.restores === "files") cut.push({ parts: [], turns: [] });
        else cutBefore(entry.before);
      } else if (entry.type === "redo") restore();
      if (!("seq" in entry) || entry.parentToolCallId !== undefined) return;
      const isTurn = entry.type === "turn.started";
      if (isTurn) turns.push(entry.seq);
      if (entry.type === "input.added") cut = [];
      if (isTurn || entry.type === "run.started" || parts.length === 0) parts.push([]);
      parts.at(-1)?.push(entry);
      if (parts.length > KEPT_PARTS) parts.shift();
    },
    get: (): RecentEvents => {
      const shown = parts.slice(-SHOWN_PARTS).flat();
      return { events: shown, turnsBefore: turns.length - shown.filter(({ type }) => type === "turn.started").length };
    },
  };
};

const filled = (parts: readonly Part[], keeps: (event: JournaledEvent) => boolean): JournaledEvent[][] =>
  parts.map((part) => part.filter(keeps)).filter((part) => part.length > 0);
