import { mkdirSync, rmdirSync } from "node:fs";
import { dirname } from "node:path";
import { placeKind } from "./place-kind.ts";

/**
 * Something can only be mounted over what exists. So what a command must not be able to make is made by us, as an empty
 * folder, and goes when the last command that needs it has ended.
 */
export interface MountPoints {
  /** Returns what gives them back. Never throws: what cannot be made by us cannot be made by the command. */
  hold(paths: readonly string[]): () => void;
  close(): void;
}

export const createMountPoints = (): MountPoints => {
  /** The first folder that was made for a path, and how many commands need it. */
  const made = new Map<string, { readonly first: string; holders: number }>();

  const take = (path: string): boolean => {
    const known = made.get(path);
    if (known !== undefined) known.holders += 1;
    else if (placeKind(path) !== "missing") return false;
    else {
      const first = make(path);
      if (first === undefined) return false;
      made.set(path, { first, holders: 1 });
    }
    return true;
  };

  const drop = (path: string): void => {
    const known = made.get(path);
    if (known === undefined) return;
    known.holders -= 1;
    if (known.holders > 0) return;
    made.delete(path);
    removeEmpty(path, known.first);
  };

  return {
    hold: (paths) => {
      let held = paths.filter(take);
      return () => {
        for (const path of held) drop(path);
        held = [];
      };
    },
    close: () => {
      for (const [path, { first }] of made) removeEmpty(path, first);
      made.clear();
    },
  };
};

const make = (path: string): string | undefined => {
  try {
    return mkdirSync(path, { recursive: true });
  } catch {
    return undefined; // the person may not write there, and then the command neither
  }
};

const removeEmpty = (path: string, first: string): void => {
  try {
    for (let folder = path; ; folder = dirname(folder)) {
      rmdirSync(folder);
      if (folder === first) return;
    }
  } catch {
    return; // somebody has put something there: it is theirs
  }
};
