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

type OpenCall = {
  id: string;
  name: string;
  text: string;
  /** The last character of `text` that is not blank: looking at `text` itself would copy it, with each of its pieces. */
  last: string;
  readonly index: number | undefined;
  readonly place: number;
};

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
    if (!candidate) return undefined;
    const isNamed = sameId !== undefined || index !== undefined;
    // Some servers open a call with an empty object before the pieces of its arguments.
    if (startsNext(candidate, name, piece) && !(isNamed && name === candidate.name && isEmptyObject(candidate.text)))
      return undefined;
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
      call = { id: "", name: "", text: "", last: "", index, place: index ?? open.length };
      open.push(call);
    }
    if (call.id === "") call.id = id;
    call.name = joinName(call, name);
    call.text = joinArguments(call, piece);
    call.last = piece.trimEnd().at(-1) ?? call.last;
  };

  /** In their order, without entries that never said anything. */
  const sorted = (): readonly OpenCall[] =>
    open.filter(({ name, text }) => name !== "" || text.trim() !== "").toSorted((a, b) => a.place - b.place);

  const finish = (): readonly ToolCall[] => {
    const used = new Set(takenIds);
    return sorted().map((call) => {
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
    size: () => sorted().length,
    calls,
    cutCalls: () => {
      const lastIsEmpty = sorted().at(-1)?.text.trim() === "";
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

/** Whether a named piece follows a call whose arguments are whole; the same arguments again are a repetition. */
const startsNext = (call: OpenCall, name: string, piece: string): boolean => {
  if (name === "" || (name === call.name && !opensObject(piece))) return false;
  const whole = parseWhole(call);
  return whole !== undefined && (name !== call.name || !isSame(whole, parseJson(piece)));
};

// These two are asked before any parsing: arguments come in thousands of pieces, and in code many begin with a brace.
const opensObject = (piece: string): boolean => piece.trimStart().startsWith("{");

const parseWhole = ({ text, last }: OpenCall): object | undefined => {
  const value = last === "}" ? parseJson(text) : undefined;
  return isObject(value) ? value : undefined;
};

const isEmptyObject = (text: string): boolean => /^\s*\{\s*\}\s*$/.test(text);

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** Some servers open with an empty object, or give the finished arguments again in their last delta. */
const joinArguments = (call: OpenCall, piece: string): string => {
  const { text } = call;
  const whole = opensObject(piece) ? parseWhole(call) : undefined;
  if (whole === undefined) return text + piece;
  if (isEmptyObject(text)) return piece;
  return isEmptyObject(piece) || isSame(whole, parseJson(piece)) ? text : text + piece;
};

// The name comes whole (once, or again in every delta), or grows, or in pieces before the arguments.
const joinName = (call: OpenCall, piece: string): string => {
  if (piece === "" || piece === call.name || call.text !== "") return call.name || piece;
  return piece.startsWith(call.name) ? piece : call.name + piece;
};
