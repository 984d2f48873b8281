import { alignmentsOf, splitRow } from "../markdown/table-row.ts";

/** Rewrites the tables of a markdown text that comes in pieces: a row becomes `name: value` lines, which read well aloud. */
export interface RecordTables {
  /** The markdown that is settled; whole lines only. */
  push(delta: string): string;
  /** The rest. Nothing may be pushed afterwards. */
  end(): string;
}

const FENCE = /^[\s>]*(?:[-*+] +|\d+[.)] +)*(`{3,}|~{3,})/;
// Quotes and indents before a table stay before its records.
const PREFIX = /^[\s>]*/;

/** `unsaid` holds the indices of the names that no record has had a value for. */
type Table = { readonly prefix: string; readonly names: readonly string[]; readonly unsaid: Set<number> };

export const createRecordTables = (): RecordTables => {
  let partial = "";
  let fence = "";
  /** A line that is a table's first one if the next line says so. */
  let held: string | undefined;
  let table: Table | undefined;

  const take = (line: string): string => {
    if (table) {
      if (line.includes("|")) return recordOf(line, table);
      return endTable() + take(line);
    }
    if (held !== undefined) {
      const names = splitRow(bodyOf(held));
      if (alignmentsOf(bodyOf(line))?.length === names.length) {
        const prefix = PREFIX.exec(held)?.[0] ?? "";
        table = { prefix, names, unsaid: new Set(names.keys()) };
        held = undefined;
        return `${prefix}\n`;
      }
      return dropHeld() + take(line);
    }
    const mark = FENCE.exec(line)?.[1];
    if (fence !== "") {
      if (mark?.startsWith(fence) && bodyOf(line).trim() === mark) fence = "";
      return `${line}\n`;
    }
    if (mark !== undefined) fence = mark;
    else if (line.includes("|")) {
      held = line;
      return "";
    }
    return `${line}\n`;
  };

  const dropHeld = (): string => {
    const text = held === undefined ? "" : `${held}\n`;
    held = undefined;
    return text;
  };

  const endTable = (): string => {
    const names = table?.names.filter((name, at) => name !== "" && table?.unsaid.has(at)) ?? [];
    const text = table && names.length > 0 ? `${table.prefix}${names.join(", ")}\n${table.prefix}\n` : "";
    table = undefined;
    return text;
  };

  return {
    push: (delta) => {
      if (!delta.includes("\n")) {
        partial += delta;
        return "";
      }
      const lines = (partial + delta).split("\n");
      partial = lines.pop() ?? "";
      return lines.map(take).join("");
    },
    end: () => (partial === "" ? "" : take(partial)) + dropHeld() + endTable(),
  };
};

const bodyOf = (line: string): string => line.replace(PREFIX, "");

/** What a row has more than the head goes into its last cell, so that nothing is lost. An empty row is no record. */
const recordOf = (line: string, { prefix, names, unsaid }: Table): string => {
  const cells = splitRow(bodyOf(line));
  const values = names.map((name, at) => {
    const value = at === names.length - 1 ? cells.slice(at).join(" | ") : (cells[at] ?? "");
    if (value === "") return "";
    unsaid.delete(at);
    return name === "" ? value : `${name}: ${value}`;
  });
  const said = values.filter((value) => value !== "");
  if (said.length === 0) return "";
  // A backslash at the end of a line is a hard break.
  return `${said.map((value) => `${prefix}${value}`).join("\\\n")}\n${prefix}\n`;
};
