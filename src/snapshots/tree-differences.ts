import { type BytePath, inFolder } from "./byte-path.ts";
import type { ObjectHash } from "./object-bytes.ts";
import type { ObjectStore } from "./object-store.ts";
import type { SnapshotId } from "./snapshots.ts";
import { type Leaf, NONE, readTree, type State, sameState, type Tree, type TreeEntry } from "./tree.ts";

export type Difference = { readonly path: BytePath; readonly before: State; readonly after: State };

/** What stands at a path as a folder: one of a snapshot, none, or something that the snapshot does not know from inside. */
type Place = { readonly type: "folder"; readonly hash: ObjectHash } | { readonly type: "none" } | Out;
type Out = Extract<Leaf, { type: "out" }>;

const BEYOND: Out = { type: "out", reason: "beyond", detail: "" };

/** The files, links and left out things that differ, in the order of their paths. Reads only the folders that differ. */
export function* treeDifferences(store: ObjectStore, before: SnapshotId, after: SnapshotId): Generator<Difference> {
  yield* differences(store, "", { type: "folder", hash: before }, { type: "folder", hash: after });
}

function* differences(store: ObjectStore, folder: BytePath, before: Place, after: Place): Generator<Difference> {
  if (before.type === "folder" && after.type === "folder" && before.hash === after.hash) return;
  const [old, fresh] = [listing(store, before), listing(store, after)];
  for (const name of [...new Set([...old.entries.keys(), ...fresh.entries.keys()])].sort()) {
    const path = inFolder(folder, name);
    const [from, to] = [entryOf(old, name), entryOf(fresh, name)];
    const [fromState, toState] = [stateOf(from), stateOf(to)];
    if (!sameState(fromState, toState)) yield { path, before: fromState, after: toState };
    if (from.type === "folder" || to.type === "folder") yield* differences(store, path, placeOf(from), placeOf(to));
  }
}

/** A folder's entries, and what stands where it has none. */
type Listing = { readonly entries: Tree["entries"]; readonly otherwise: typeof NONE | Out };

const listing = (store: ObjectStore, place: Place): Listing => {
  if (place.type !== "folder") return { entries: new Map(), otherwise: place.type === "out" ? place : NONE };
  const { entries, isComplete } = readTree(store, place.hash);
  return { entries, otherwise: isComplete ? NONE : BEYOND };
};

type Found = TreeEntry | State;

const entryOf = ({ entries, otherwise }: Listing, name: string): Found => entries.get(name) ?? otherwise;

const stateOf = (found: Found): State => (found.type === "folder" ? NONE : found);

const placeOf = (found: Found): Place => {
  switch (found.type) {
    case "folder":
    case "out":
      return found;
    case "none":
    case "file":
    case "link":
      return { type: "none" };
    default:
      throw found satisfies never;
  }
};
