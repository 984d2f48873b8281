import type { Line, Role } from "../line.ts";

/** Where a block stands: the width of a line, and what stands before its text in the first line and in the others. */
export type Frame = {
  readonly width: number;
  readonly first: Line;
  readonly rest: Line;
  /** Roles of everything in it, as within a quote. */
  readonly roles: readonly Role[];
};

/** The block that is being written. Its lines are returned once, as soon as they cannot change. */
export interface Leaf {
  /** More text of the current line; never a newline. */
  write(text: string): Line[];
  endLine(): Line[];
  end(): Line[];
  clone(): Leaf;
}

/** The frame after its first line. */
export const followed = (frame: Frame): Frame => ({ ...frame, first: frame.rest });
