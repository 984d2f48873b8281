import type { BytePath } from "./byte-path.ts";
import type { ObjectStore } from "./object-store.ts";
import type { Step } from "./snapshots.ts";
import { type State, sameState } from "./tree.ts";
import { treeDifferences } from "./tree-differences.ts";

/** What some steps have made of one path. */
export type PathHistory = {
  readonly path: BytePath;
  /** Before the first step that changed it. */
  readonly first: State;
  /** After the last one. */
  readonly last: State;
  /** Between two of them somebody else has changed it. */
  readonly isBroken: boolean;
};

/** The paths that the steps, the oldest first, have changed, in order. What came back to where it was counts too. */
export const pathHistories = (store: ObjectStore, steps: readonly Step[]): readonly PathHistory[] => {
  const histories = new Map<BytePath, PathHistory>();
  for (const step of steps)
    for (const { path, before, after } of treeDifferences(store, step.before, step.after)) {
      const known = histories.get(path);
      // Of what a snapshot does not look at, it cannot say that the step has made or changed it.
      if (!known && isUnknown(before)) continue;
      histories.set(path, {
        path,
        first: known?.first ?? before,
        last: after,
        isBroken: known !== undefined && (known.isBroken || !sameState(known.last, before)),
      });
    }
  return [...histories.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
};

/** Something may stand there or not. */
export const isUnknown = (state: State): boolean =>
  state.type === "out" && (state.reason === "ignored" || state.reason === "special" || state.reason === "beyond");
