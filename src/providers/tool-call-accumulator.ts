import type { ToolCall } from "../schema/tool.ts";
import { isObject, parseJson } from "./wire.ts";

/** A piece of a streamed tool call, as loosely as servers send it. */
export type ToolCallFragment = {
  /** The call's place in the turn. Absent, null or no number: the id decides, or the call that is open. */
  readonly index?: unknown;
  readonly id?: unknown;
  readonly name?: unknown;
  /** A piece of JSON text, or the arguments as an object in one piece. */
  readonly arguments?: unknown;
};

export type ToolCallAccumulator = {
  readonly add: (fragment: ToolCallFragment) => void;
  readonly size: () => number;
  /** The calls in their order. Arguments stay the model's raw text; none at all are `{}`. */
  readonly calls: () => readonly ToolCall[];
  /** Ids of the calls whose arguments are incomplete, for an answer that the output limit cut. */
  readonly cutCalls: () => readonly string[];
};

type OpenCall = { id: string; name: string; text: string; index: number | undefined; readonly place: number };

/**
 * Joins streamed tool calls, for both dialects. Servers leave out or repeat indexes, ids and names, interleave calls, and send
 * arguments in pieces or at once; each call comes out once, with a name and a non-empty id that no call before it has.
 * `takenIds` are the ids in the history, `createId` makes one for a call that came without.
 */
export const createToolCallAccumulator = (
  takenIds: ReadonlySet<string>,
  createId: () => string,
): ToolCallAccumulator => {
  const open: OpenCall[] = [];
  let finished: readonly ToolCall[] | undefined;

  const find = (index: number | undefined, id: string, name: string, piece: string): OpenCall | undefined => {
    const sameId = id === "" ? undefined : open.findLast((call) => call.id === id && fits(call, index));
    const latest = index === undefined ? open.at(-1) : open.findLast((call) => call.index === index);
    const candidate = sameId ?? latest;
    if (!candidate || startsNext(candidate, name, piece)) return undefined;
    if (sameId) return sameId;
    // A new id with a name is a new call, also when every call comes with index 0;
    // but some servers give each piece of one call an id of its own.
    if (id !== "" && candidate.id !== "")
      return name === "" || isContinued(candidate, name, piece) ? candidate : undefined;
    // Without an index a new name begins the next call.
    return index === undefined && name !== "" && name !== candidate.name && candidate.name !== ""
      ? undefined
      : candidate;
  };

  const add = (fragment: ToolCallFragment): void => {
    finished = undefined;
    const index = readIndex(fragment.index);
    const id = typeof fragment.id === "string" ? fragment.id : "";
    const name = typeof fragment.name === "string" ? fragment.name : "";
    const piece = readArguments(fragment.arguments);
    let call = find(index, id, name, piece);
    if (!call) {
      call = { id: "", name: "", text: "", index, place: index ?? open.length };
      open.push(call);
    }
    if (call.id === "") call.id = id;
    call.name = joinName(call, name);
    call.text = isObject(fragment.arguments) || isRepeated(call.text, piece) ? piece : call.text + piece;
  };

  const finish = (): readonly ToolCall[] => {
    const used = new Set(takenIds);
    return open
      .toSorted((a, b) => a.place - b.place)
      .map((call) => {
        const id = call.id === "" || used.has(call.id) ? createId() : call.id;
        used.add(id);
        return { id, name: call.name || "unknown", arguments: call.text.trim() === "" ? "{}" : call.text };
      });
  };

  // Ids are made once: the calls and their observations must agree.
  const calls = (): readonly ToolCall[] => {
    finished ??= finish();
    return finished;
  };

  return {
    add,
    size: () => open.length,
    calls,
    cutCalls: () => {
      const lastIsEmpty =
        open
          .toSorted((a, b) => a.place - b.place)
          .at(-1)
          ?.text.trim() === "";
      return calls()
        .filter((call, i, all) => parseJson(call.arguments) === undefined || (lastIsEmpty && i === all.length - 1))
        .map((call) => call.id);
    },
  };
};

const readIndex = (value: unknown): number | undefined => {
  const index = typeof value === "string" && value !== "" ? Number(value) : value;
  return typeof index === "number" && Number.isFinite(index) ? index : undefined;
};

const readArguments = (value: unknown): string => {
  if (typeof value === "string") return value;
  return isObject(value) ? JSON.stringify(value) : "";
};

const fits = (call: OpenCall, index: number | undefined): boolean =>
  index === undefined || call.index === undefined || call.index === index;

/** Whether a named piece with an id of its own goes on with the arguments that `call` has begun. */
const isContinued = (call: OpenCall, name: string, piece: string): boolean =>
  name === call.name && /^[^{]/.test(piece) && call.text !== "" && parseJson(call.text) === undefined;

/** Whether a named piece with whole arguments follows a call whose own are whole; the same again is a repetition. */
const startsNext = (call: OpenCall, name: string, piece: string): boolean =>
  name !== "" &&
  piece !== call.text &&
  piece.startsWith("{") &&
  isObject(parseJson(piece)) &&
  isObject(parseJson(call.text));

// Some servers repeat the finished arguments in their last delta.
const isRepeated = (text: string, piece: string): boolean =>
  piece.endsWith("}") && piece === text && parseJson(piece) !== undefined;

// The name comes whole (once, or again in every delta), or grows, or in pieces before the arguments.
const joinName = (call: OpenCall, piece: string): string => {
  if (piece === "" || piece === call.name || call.text !== "") return call.name || piece;
  return piece.startsWith(call.name) ? piece : call.name + piece;
};
