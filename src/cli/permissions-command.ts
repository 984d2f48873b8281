import { type Decision, decide, type Outcome } from "../permissions/policy.ts";
import { parseRule, type Rule } from "../permissions/rules.ts";
import { parseCommand } from "../permissions/shell-command.ts";
import type { SimpleCommand } from "../permissions/simple-command.ts";
import { PERMISSION_MODES, type PermissionMode } from "../schema/event.ts";
import { visibleControls } from "../text/clean.ts";
import { errorMessage } from "../text/error-message.ts";
import { EXIT } from "../text/exit.ts";
import { printableJson } from "../text/printable-json.ts";
import { UserError } from "../text/user-error.ts";
import type { PermissionsRequest, RunOptions } from "./program.ts";
import { say } from "./say.ts";
import { prepare, type Setup, type Surroundings } from "./setup.ts";

/** `harness9 permissions`: the rules, and what would become of a command. Runs nothing. @throws UserError */
export const runPermissions = async (
  request: PermissionsRequest,
  options: RunOptions,
  surroundings: Surroundings,
): Promise<void> => {
  const setup = await prepare(surroundings, options);
  for (const warning of setup.warnings) say(warning);
  switch (request.type) {
    case "list":
      listRules(setup, request.json);
      return;
    case "explain":
      return explain(setup, request, options.guard);
    default:
      request satisfies never;
  }
};

const LISTS = ["deny", "ask", "allow"] as const;
type List = (typeof LISTS)[number];

const listRules = ({ config, strings }: Setup, json: boolean): void => {
  const rules = LISTS.flatMap((list) => config.rules[list].map(({ rule, origin }) => ({ list, rule, origin })));
  if (json) print([printableJson(rules, { indent: 2 })]);
  else if (rules.length === 0) print([strings.permission.noRules]);
  else print(columns(rules.map(({ list, rule, origin }) => [list, rule, origin])));
};

type ExplainRequest = Extract<PermissionsRequest, { readonly type: "explain" }>;

const explain = async (setup: Setup, { command, mode, json }: ExplainRequest, guard: boolean): Promise<void> => {
  const { workDir, homeDir, paths, config, strings, trusted } = setup;
  const places = { workDir, homeDir, harnessHome: paths.home, addedDirs: config.settings.addDirs };
  const rules = { allow: rulesOf(setup, "allow"), ask: rulesOf(setup, "ask"), deny: rulesOf(setup, "deny") };
  const parsed = await parseCommand(command, places);
  const facts = { name: "bash", kind: "execute", permission: "high", command: parsed } as const;
  const options = { rules, guard, places, trusted, strings: strings.permission };
  const explained = (one: PermissionMode) => explanation(decide(facts, { ...options, mode: one }), config.rules);
  if (json) {
    const byMode = () => Object.fromEntries(PERMISSION_MODES.map((one) => [one, asJson(explained(one))]));
    print([printableJson(mode === undefined ? byMode() : asJson(explained(mode)), { indent: 2 })]);
    return;
  }
  for (const one of mode === undefined ? PERMISSION_MODES : [mode])
    print(explanationLines(one, explained(one), strings.permission));
};

const explanationLines = (
  mode: PermissionMode,
  { decision, reason, rule, origin, pieces }: Explanation,
  { outcomes }: Setup["strings"]["permission"],
): readonly string[] => [
  visibleControls(`${mode}: ${outcomes[decision]} (${reason})`),
  ...(rule !== undefined && origin !== undefined ? [visibleControls(`  ${rule}  ${origin}`)] : []),
  ...columns(pieces.map((piece) => [outcomes[piece.decision], piece.command, piece.reason])).map((row) => `  ${row}`),
];

type Explanation = {
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

const explanation = (
  { decision, by, rule, reason, pieces }: Decision,
  rules: Setup["config"]["rules"],
): Explanation => {
  const outcome = outcomeOf(decision);
  const origin = by === "rule" ? rules[outcome].find((one) => one.rule.trim() === rule)?.origin : undefined;
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

const asJson = ({ reason: _, ...rest }: Explanation): Omit<Explanation, "reason"> => rest;

const outcomeOf = (decision: Outcome): Explanation["decision"] => (decision === "refuse" ? "deny" : decision);

const sourceOf = ({ assigned, words, redirects }: SimpleCommand): string =>
  [
    ...assigned.map((name) => `${name}=…`),
    ...words.map(({ source }) => source),
    ...redirects.map(({ operator, target }) => `${operator}${target.source}`),
  ].join(" ");

const rulesOf = ({ config, strings }: Setup, list: List): readonly Rule[] =>
  config.rules[list].map(({ rule, origin }) => {
    try {
      return parseRule(rule, strings.permission);
    } catch (error) {
      throw new UserError(`${origin}: ${list}: ${errorMessage(error)}`, { exitCode: EXIT.config, cause: error });
    }
  });

const MAX_COLUMN = 48;

/** Rows of text below each other; a long cell keeps its length. */
const columns = (rows: readonly (readonly string[])[]): readonly string[] => {
  const shown = rows.map((row) => row.map((cell) => visibleControls(cell)));
  const width = (column: number): number =>
    Math.min(MAX_COLUMN, Math.max(...shown.map((row) => row[column]?.length ?? 0)));
  return shown.map((row) =>
    row.map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(width(column)))).join("  "),
  );
};

const print = (lines: readonly string[]): void => void process.stdout.write(lines.map((line) => `${line}\n`).join(""));
