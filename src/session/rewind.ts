import type { Restores } from "./journal.ts";
import type { Turn } from "./turns.ts";

export type { Restores };

/** A file that differs between two states. Its path is others' text. */
export type ChangedFile = {
  readonly path: string;
  readonly kind: "added" | "changed" | "removed";
  /** Lines; null where it is no text, or too long to compare. */
  readonly lines: { readonly added: number; readonly removed: number } | null;
};

/** A turn that can be gone back to. */
export type PastTurn = Pick<Turn, "type" | "seq" | "text"> & {
  /** From 1, by which a person names it. */
  readonly number: number;
  readonly ageMs: number;
  /** What it has changed; null where that is not known. */
  readonly changes: readonly ChangedFile[] | null;
};

/** What would become of the files. */
export type FilesToRestore = {
  readonly changes: readonly ChangedFile[];
  /** Changed by others since: they would stay as they are. */
  readonly conflicts: readonly ChangedFile[];
};

/** The way back to before a turn. Nothing has been done yet. */
export type WayBack = {
  readonly turn: PastTurn;
  /** Null where no state of the files is known. */
  readonly files: FilesToRestore | null;
  /** Why not, where there is more to say. */
  readonly problem?: string;
  /** Goes it. Only between runs. */
  readonly go: (restores: Restores) => Promise<Restored>;
};

export type Restored = {
  readonly restores: Restores;
  /** How many files are now as they were. */
  readonly files: number;
  /** What stayed as it is, and why. */
  readonly kept: readonly { readonly path: string; readonly reason: string }[];
};

/** What can be shown of a change. */
export type FileDiff = { readonly change: ChangedFile; readonly diff: string };

/** Which changes: those of the last turn that has any, of a turn by its number, or of the session so far. */
export type DiffScope = { readonly type: "last" | "session" } | { readonly type: "turn"; readonly number: number };

/** Going back in the chat. What fails throws, and says what has been done. */
export type ChatRewind = {
  /** The newest first. */
  readonly turns: () => Promise<readonly PastTurn[]>;
  readonly wayBack: (turn: PastTurn) => Promise<WayBack>;
  /** The newest way back that can be undone: how its turn began, and what was restored. */
  readonly redoable: () => { readonly text: string; readonly restores: Restores } | null;
  /** Takes it back. Only between runs. */
  readonly redo: () => Promise<Restored>;
  /** Null where there is no such turn; a `turn` that is null stands for the session, `files` that are null for not kept. */
  readonly diff: (
    scope: DiffScope,
  ) => Promise<{ readonly turn: PastTurn | null; readonly files: readonly FileDiff[] | null } | null>;
  /** Goes on in a copy of the session under a new id. What runs beside it ends. Only between runs. Returns what is not as before. */
  readonly fork: () => Promise<{ readonly from: string; readonly warnings: readonly string[] }>;
};
