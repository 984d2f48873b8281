import { isPlainName } from "./byte-path.ts";
import { isObjectHash, type ObjectHash } from "./object-bytes.ts";
import type { ObjectStore } from "./object-store.ts";
import { SnapshotError } from "./snapshot-error.ts";

/**
 * Why something on the disk is not in a snapshot. `ignored`, `special` (a pipe, a socket, a device) and `beyond` the limits
 * say nothing about what is there; of `big` and `unreadable` files it is known that they are there.
 */
export type OutReason = "ignored" | "special" | "beyond" | "big" | "unreadable";

/** What stands at a path. A folder is `none`: folders are there for the files in them. */
export type State =
  | { readonly type: "none" }
  | { readonly type: "file"; readonly hash: ObjectHash; readonly mode: number; readonly size: number }
  | { readonly type: "link"; readonly target: string }
  /** `detail` tells one state of a big file from another. */
  | { readonly type: "out"; readonly reason: OutReason; readonly detail: string };

export type Leaf = Exclude<State, { type: "none" }>;
export type TreeEntry = Leaf | { readonly type: "folder"; readonly hash: ObjectHash };

/** One folder of a snapshot. `isComplete`: it held nothing else. */
export type Tree = { readonly entries: ReadonlyMap<string, TreeEntry>; readonly isComplete: boolean };

export const NONE: State = { type: "none" };

export const sameState = (a: State, b: State): boolean => {
  switch (a.type) {
    case "none":
      return b.type === "none";
    case "file":
      return b.type === "file" && a.hash === b.hash && a.mode === b.mode;
    case "link":
      return b.type === "link" && a.target === b.target;
    case "out":
      return b.type === "out" && a.reason === b.reason && a.detail === b.detail;
    default:
      throw a satisfies never;
  }
};

const HEADER = "tree 1";
const INCOMPLETE = "more";

/** The one text of a folder: NUL-terminated fields, the entries in the order of their names. */
export const encodeTree = ({ entries, isComplete }: Tree): Buffer => {
  const names = [...entries.keys()].sort();
  let text = `${HEADER}\0${isComplete ? "" : INCOMPLETE}\0`;
  for (const name of names) {
    const entry = entries.get(name);
    if (entry) text += `${encodeEntry(entry)}\0${name}\0`;
  }
  return Buffer.from(text, "latin1");
};

const encodeEntry = (entry: TreeEntry): string => {
  switch (entry.type) {
    case "folder":
      return `d ${entry.hash}`;
    case "file":
      return `f ${entry.mode.toString(8)} ${entry.size} ${entry.hash}`;
    case "link":
      return `l ${entry.target}`;
    case "out":
      return `o ${entry.reason} ${entry.detail}`;
    default:
      throw entry satisfies never;
  }
};

/** Throws a SnapshotError where it is no tree, or names something that no snapshot may hold. */
export const readTree = (store: ObjectStore, hash: ObjectHash): Tree => {
  const fields = store.get(hash).toString("latin1").split("\0");
  const entries = new Map<string, TreeEntry>();
  const damaged = new SnapshotError("damaged", hash);
  if (fields[0] !== HEADER || fields.length % 2 !== 1) throw damaged;
  for (let at = 2; at + 1 < fields.length; at += 2) {
    const entry = decodeEntry(fields[at] ?? "");
    const name = fields[at + 1] ?? "";
    if (!entry || !isPlainName(name)) throw damaged;
    entries.set(name, entry);
  }
  return { entries, isComplete: fields[1] !== INCOMPLETE };
};

const OUT_REASONS: readonly string[] = ["ignored", "special", "beyond", "big", "unreadable"] satisfies OutReason[];
const isOutReason = (text: string): text is OutReason => OUT_REASONS.includes(text);

const decodeEntry = (text: string): TreeEntry | null => {
  const [kind, first = "", ...rest] = text.split(" ");
  switch (kind) {
    case "d":
      return isObjectHash(first) ? { type: "folder", hash: first } : null;
    case "f": {
      const [size = "", hash = ""] = rest;
      return isObjectHash(hash) ? { type: "file", mode: Number.parseInt(first, 8), size: Number(size), hash } : null;
    }
    case "l":
      return { type: "link", target: text.slice(2) };
    case "o":
      return isOutReason(first) ? { type: "out", reason: first, detail: rest.join(" ") } : null;
    default:
      return null;
  }
};
