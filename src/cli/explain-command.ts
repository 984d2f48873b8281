import { type Decision, decide, type Outcome } from "../permissions/policy.ts";
import { parseCommand } from "../permissions/shell-command.ts";
import type { SimpleCommand } from "../permissions/simple-command.ts";
import type { PermissionMode } from "../schema/event.ts";
import { visibleControls } from "../text/clean.ts";
import { policyOptions } from "./policy-options.ts";
import type { Setup } from "./setup.ts";

export type Explanation = {
  readonly decision: "allow" | "ask" | "deny";
  readonly by: Decision["by"];
  readonly rule?: string;
  /** Where the rule stands. */
  readonly origin?: string;
  readonly reason: string;
  readonly pieces: readonly {
    readonly command: string;
    readonly decision: "allow" | "ask" | "deny";
    readonly reason: string;
  }[];
};

/** What would become of a command, by mode. Runs nothing. */
export const explainCommand = async (
  setup: Setup,
  command: string,
  guard: boolean,
): Promise<(mode: PermissionMode) => Explanation> => {
  const options = policyOptions(setup, guard);
  const parsed = await parseCommand(command, options.places);
  const facts = { name: "bash", kind: "execute", permission: "high", command: parsed } as const;
  return (mode) => explanation(decide(facts, { ...options, mode }), setup.rules);
};

const explanation = ({ decision, by, rule, reason, pieces }: Decision, rules: Setup["rules"]): Explanation => {
  const outcome = outcomeOf(decision);
  const isIt = (one: { readonly list: string; readonly rule: string }) =>
    one.list === outcome && one.rule.trim() === rule;
  const origin = by === "rule" ? rules.list().find(isIt)?.origin : undefined;
  return {
    decision: outcome,
    by,
    ...(rule !== undefined && { rule }),
    ...(origin !== undefined && { origin }),
    reason,
    pieces: pieces.map((piece) => ({
      command: sourceOf(piece.command),
      decision: outcomeOf(piece.decision),
      reason: piece.reason,
    })),
  };
};

const outcomeOf = (decision: Outcome): Explanation["decision"] => (decision === "refuse" ? "deny" : decision);

const sourceOf = ({ assigned, words, redirects }: SimpleCommand): string =>
  [
    ...assigned.map((name) => `${name}=…`),
    ...words.map(({ source }) => source),
    ...redirects.map(({ operator, target }) => `${operator}${target.source}`),
  ].join(" ");

/** For people: a line for the whole, and one for each part; of clean text. */
export const explanationLines = (
  mode: PermissionMode,
  { decision, reason, rule, origin, pieces }: Explanation,
  { outcomes }: Setup["strings"]["permission"],
): readonly string[] => [
  visibleControls(`${mode}: ${outcomes[decision]} (${reason})`),
  ...(rule !== undefined && origin !== undefined ? [visibleControls(`  ${rule}  ${origin}`)] : []),
  ...columns(pieces.map((piece) => [outcomes[piece.decision], piece.command, piece.reason])).map((row) => `  ${row}`),
];

const MAX_COLUMN = 48;

/** Rows of text below each other; a long cell keeps its length. */
export const columns = (rows: readonly (readonly string[])[]): readonly string[] => {
  const shown = rows.map((row) => row.map((cell) => visibleControls(cell)));
  const width = (column: number): number =>
    Math.min(MAX_COLUMN, Math.max(...shown.map((row) => row[column]?.length ?? 0)));
  return shown.map((row) =>
    row.map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(width(column)))).join("  "),
  );
};
