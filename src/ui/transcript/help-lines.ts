import type { Strings } from "../../text/strings.ts";
import type { CommandDescription } from "../commands/slash-commands.ts";
import { type Line, lineWidth, type Role, span } from "../line.ts";
import { wrapSpans } from "../wrap.ts";
import { cutLine } from "./table-lines.ts";

/** Keys as they are written on them, and what they do. */
export type KeyRow = { readonly keys: string; readonly description: string };

export type HelpOptions = { readonly width: number; readonly strings: Strings["commands"] };

/** `/help`: the commands, the characters that an input may begin with, the keys. */
export const helpLines = (
  { commands, keys }: { readonly commands: readonly CommandDescription[]; readonly keys: readonly KeyRow[] },
  { width, strings }: HelpOptions,
): Line[] => {
  const { help } = strings;
  const heading = (text: string): Line => cutLine([span("  "), span(text, "heading")], width);
  const prefixes: readonly Entry[] = [
    { name: "/", description: help.command },
    { name: "@", description: help.file },
    { name: "!", description: help.shell },
  ];
  return [
    heading(help.commands),
    ...entryLines(commands.map(commandEntry), width),
    [],
    heading(help.prefixes),
    ...entryLines(prefixes, width),
    [],
    heading(help.keys),
    ...keyLines(keys, width),
  ];
};

/** The keys, in two columns on a terminal of 80. What `?` shows. */
export const keyLines = (keys: readonly KeyRow[], width: number): Line[] => {
  const entries = keys.map(({ keys: name, description }) => ({ name, description }));
  if (width < TWO_COLUMNS) return entryLines(entries, width);
  const half = Math.floor(width / 2);
  const middle = Math.ceil(entries.length / 2);
  const left = entryLines(entries.slice(0, middle), half - COLUMN_GAP);
  const right = entryLines(entries.slice(middle), width - half);
  return Array.from({ length: Math.max(left.length, right.length) }, (_, row) => {
    const [before = [], after = []] = [left[row], right[row]];
    return after.length === 0 ? before : [...before, span(" ".repeat(half - lineWidth(before))), ...after];
  });
};

const TWO_COLUMNS = 79;
const COLUMN_GAP = 2;

type Entry = { readonly name: string; readonly hint?: string; readonly description: string };

const commandEntry = ({ name, aliases, hint, description }: CommandDescription): Entry => ({
  name: [name, ...aliases].map((one) => `/${one}`).join(" "),
  hint,
  description,
});

const INDENT = "  ";
const GAP = "  ";
const MAX_NAMES = 20;
const MIN_DESCRIPTION = 16;

/** The descriptions stand in a column of their own; below a name that is too long for that, or in a narrow place. */
const entryLines = (entries: readonly Entry[], width: number): Line[] => {
  const widths = entries.map((entry) => lineWidth(nameSpans(entry))).filter((cells) => cells <= MAX_NAMES);
  const column = Math.max(0, ...widths);
  const start = INDENT.length + column + GAP.length;
  const isNarrow = width - start < MIN_DESCRIPTION;
  const below = span(" ".repeat(isNarrow ? INDENT.length * 2 : start));
  return entries.flatMap((entry): readonly Line[] => {
    const name: Line = [span(INDENT), ...nameSpans(entry)];
    const description = [span(entry.description)];
    const isBeside = !isNarrow && lineWidth(name) + GAP.length <= start;
    if (isBeside) {
      const padded = [...name, span(" ".repeat(start - lineWidth(name)))];
      return wrapSpans(description, { width, first: padded, rest: [below] });
    }
    const names = wrapSpans(nameSpans(entry), { width, first: [span(INDENT)], rest: [span(INDENT.repeat(2))] });
    return [...names, ...wrapSpans(description, { width, first: [below], rest: [below] })];
  });
};

const nameSpans = ({ name, hint = "" }: Entry): Line => {
  const role: Role = "accent";
  return hint === "" ? [span(name, role)] : [span(name, role), span(` ${hint}`, "dim")];
};
