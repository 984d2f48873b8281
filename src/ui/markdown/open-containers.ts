import type { Glyphs } from "../glyphs.ts";
import { lineWidth, type Span, span } from "../line.ts";
import type { Container } from "./containers.ts";
import type { Frame } from "./frame.ts";

export type OpenContainer = {
  readonly container: Container;
  /** The number that an item shows; 0 for a bullet. */
  readonly number: number;
  /** Whether its bullet or number has been drawn. */
  readonly isDrawn: boolean;
};

// Quotes and lists leave this room for the text, or half of a narrow line: the outer ones are left out.
const MIN_ROOM = 8;

/** A container that begins; `before` is the one that ended where it begins. */
export const begun = (container: Container, before: OpenContainer | undefined): OpenContainer => {
  if (container.type === "quote") return { container, number: 0, isDrawn: true };
  const written = Number.parseInt(container.marker, 10);
  if (Number.isNaN(written)) return { container, number: 0, isDrawn: false };
  const isNext = before?.container.type === "item" && before.container.marker.at(-1) === container.marker.at(-1);
  // Models that number every item with 1 count on the renderer.
  const number = isNext && written <= before.number ? before.number + 1 : written;
  return { container, number, isDrawn: false };
};

export const drawn = (open: readonly OpenContainer[]): OpenContainer[] =>
  open.map((container) => ({ ...container, isDrawn: true }));

/** The frame of a block in these containers. */
export const frameIn = (open: readonly OpenContainer[], width: number, glyphs: Glyphs): Frame => {
  const first: Span[] = [];
  const rest: Span[] = [];
  let room = width - Math.min(MIN_ROOM, Math.ceil(width / 2));
  for (const container of open.toReversed()) {
    const [begins, continues] = prefixes(container, glyphs);
    room -= lineWidth([begins]);
    if (room < 0) break;
    first.unshift(container.isDrawn ? continues : begins);
    rest.unshift(continues);
  }
  return { width, first, rest, roles: open.some(({ container }) => container.type === "quote") ? ["quote"] : [] };
};

const prefixes = ({ container, number }: OpenContainer, glyphs: Glyphs): readonly [Span, Span] => {
  if (container.type === "quote") {
    const bar = span(`${glyphs.output} `, "quote");
    return [bar, bar];
  }
  const mark = number === 0 && !/^\d/.test(container.marker) ? glyphs.bullet : `${number}${container.marker.at(-1)}`;
  return [span(`${mark} `, "accent"), span(" ".repeat(lineWidth([span(mark)]) + 1))];
};
