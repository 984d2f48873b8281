import { PERMISSION_MODES } from "../schema/event.ts";
import { printableJson } from "../text/printable-json.ts";
import { columns, type Explanation, explainCommand, explanationLines } from "./explain-command.ts";
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

const listRules = (setup: Setup, json: boolean): void => {
  const rules = setup.rules.list().map(({ list, rule, origin }) => ({ list, rule, origin }));
  if (json) print([printableJson(rules, { indent: 2 })]);
  else if (rules.length === 0) print([setup.strings.permission.noRules]);
  else print(columns(rules.map(({ list, rule, origin }) => [list, rule, origin])));
};

type ExplainRequest = Extract<PermissionsRequest, { readonly type: "explain" }>;

const explain = async (setup: Setup, { command, mode, json }: ExplainRequest, guard: boolean): Promise<void> => {
  const explained = await explainCommand(setup, command, guard);
  if (json) {
    const byMode = () => Object.fromEntries(PERMISSION_MODES.map((one) => [one, asJson(explained(one))]));
    print([printableJson(mode === undefined ? byMode() : asJson(explained(mode)), { indent: 2 })]);
    return;
  }
  for (const one of mode === undefined ? PERMISSION_MODES : [mode])
    print(explanationLines(one, explained(one), setup.strings.permission));
};

const asJson = ({ reason: _, ...rest }: Explanation): Omit<Explanation, "reason"> => rest;

const print = (lines: readonly string[]): void => void process.stdout.write(lines.map((line) => `${line}\n`).join(""));
