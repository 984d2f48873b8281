import { resolve } from "node:path";
import type { PermissionMode } from "../schema/event.ts";
import type { Strings } from "../text/strings.ts";
import type { ToolKind, ToolPermission } from "../tools/tool.ts";
import { guard } from "./guard.ts";
import { type GuardPlaces, isInside, pathsOf } from "./guarded-paths.ts";
import { isReadOnly } from "./read-only.ts";
import { allowsCommand, hitsCommand, isForTool, matchesPath, type Rule, type Rules } from "./rules.ts";
import { looksSecret, secretIn } from "./secrets.ts";
import type { ParsedCommand, SimpleCommand } from "./simple-command.ts";

/** What a policy may know of a call. */
export type CallFacts = {
  readonly name: string;
  readonly kind: ToolKind;
  readonly permission: ToolPermission;
  /** The file of a file tool, as the model wrote it. */
  readonly path?: string;
  /** The command of a tool that runs one. */
  readonly command?: ParsedCommand;
  /** The text arguments of any other tool, for rules with a pattern. */
  readonly texts?: readonly string[];
};

export type PolicyOptions = {
  readonly mode: PermissionMode;
  readonly rules: Rules;
  /** False = `--no-guard`. */
  readonly guard: boolean;
  readonly places: GuardPlaces;
  /** Whether the folder's own settings may run programs, as git's do. */
  readonly trusted?: boolean;
  /** Whether git, started in the work directory, runs nothing but itself all the same; see `plainRepositoryCheck`. */
  readonly plainRepository?: (() => boolean) | undefined;
  readonly strings: Strings["permission"];
};

export type Outcome = "allow" | "ask" | "refuse";

export type Decision = {
  readonly decision: Outcome;
  readonly by: "mode" | "rule" | "guard" | "secret";
  readonly rule?: string;
  readonly reason: string;
  /** What the parts of a command line came to; the first of the strictest decides. */
  readonly pieces: readonly { readonly command: SimpleCommand; readonly decision: Outcome; readonly reason: string }[];
};

type Row = "look" | "edit" | "command" | "medium" | "secret" | "unsure" | "guard";

const TABLE: Readonly<Record<Row, Readonly<Record<PermissionMode, Outcome>>>> = {
  look: { ask: "allow", "auto-edit": "allow", plan: "allow", auto: "allow", yolo: "allow" },
  edit: { ask: "ask", "auto-edit": "allow", plan: "refuse", auto: "allow", yolo: "allow" },
  command: { ask: "ask", "auto-edit": "ask", plan: "refuse", auto: "allow", yolo: "allow" },
  medium: { ask: "ask", "auto-edit": "ask", plan: "refuse", auto: "allow", yolo: "allow" },
  secret: { ask: "ask", "auto-edit": "ask", plan: "ask", auto: "refuse", yolo: "allow" },
  unsure: { ask: "ask", "auto-edit": "ask", plan: "refuse", auto: "refuse", yolo: "allow" },
  guard: { ask: "ask", "auto-edit": "ask", plan: "refuse", auto: "refuse", yolo: "ask" },
};

type Verdict = Omit<Decision, "pieces">;

/**
 * Who may do what: the table of modes, then rules (deny beats ask beats allow). Changes nothing; the disk is read only
 * to see where the paths of a command that looks read-only lead.
 * An allow rule lifts a question, never the guard or what the parser cannot be sure of; it lifts a refusal for a
 * secret only where the rule itself names the secret.
 */
export const decide = (facts: CallFacts, options: PolicyOptions): Decision => {
  if (facts.command !== undefined) return decideCommand(facts, facts.command, options);
  const { rules } = options;
  const matches = (rule: Rule) => isForTool(rule, facts.name) && matchesCall(rule, facts, options.places);
  const denied = rules.deny.find(matches);
  if (denied) return { ...ruleVerdict("refuse", "deny", denied, options), pieces: [] };
  const isAllowed = (rule: Rule) =>
    isForTool(rule, facts.name) &&
    (facts.texts ? allowsTexts(rule, facts.texts) : matchesCall(rule, facts, options.places));
  const allowing = rules.allow.filter(isAllowed);
  const verdicts: Verdict[] = [];
  if (facts.path !== undefined && looksSecret(resolve(options.places.workDir, facts.path), options.places.homeDir))
    verdicts.push(secretVerdict(facts.path, allowing, options));
  verdicts.push(lift(rowVerdict(rowOf(facts), labelOf(facts, options), options), allowing[0], options));
  const asked = rules.ask.find(matches);
  if (asked) verdicts.push(ruleVerdict("ask", "ask", asked, options));
  return { ...strictest(verdicts), pieces: [] };
};

const decideCommand = (facts: CallFacts, parsed: ParsedCommand, options: PolicyOptions): Decision => {
  const { rules, strings, places, mode, trusted = false, plainRepository } = options;
  // Where a command may be missing, or a word may mean something else, nothing counts as reading.
  const mayLook = parsed.isCertain && parsed.isPlain;
  const pieces = parsed.commands.map((command) => {
    const secret = secretIn(command, places.homeDir);
    const looks = mayLook && isReadOnly(command, { places, trusted, plainRepository, secrets: secret !== undefined });
    return { command, ...decidePiece(facts, command, { ...options, looks, secret }) };
  });
  const verdicts: Verdict[] = [];
  const denied = rules.deny.find((rule) => isForTool(rule, facts.name) && rule.pattern === undefined);
  if (denied) verdicts.push(ruleVerdict("refuse", "deny", denied, options));
  const found = options.guard ? guard(parsed.commands, places) : undefined;
  if (found) {
    const harm = strings.harms[found.harm];
    verdicts.push({
      decision: TABLE[found.isCertain ? "guard" : "unsure"][mode],
      by: found.isCertain ? "guard" : "mode",
      rule: found.rule,
      reason: (found.isCertain ? strings.guarded : strings.unprovable)(found.rule, harm, found.subject),
    });
  }
  verdicts.push(...pieces.filter(({ decision, by }) => decision === "refuse" && by === "rule"));
  // It says more than that a command runs.
  if (!parsed.isCertain) {
    const doubts = parsed.doubts.map(({ kind, subject }) => strings.doubts[kind](subject));
    verdicts.push(rowVerdict("unsure", strings.unsure(doubts), options));
  }
  verdicts.push(...pieces);
  if (verdicts.length === 0) verdicts.push(rowVerdict("command", strings.runs, options));
  const { decision, by, rule, reason } = strictest(verdicts);
  return { decision, by, ...(rule !== undefined && { rule }), reason, pieces };
};

/** One simple command by itself. */
const decidePiece = (
  facts: CallFacts,
  command: SimpleCommand,
  options: PolicyOptions & { readonly looks: boolean; readonly secret: string | undefined },
): Verdict => {
  const { rules, strings, secret } = options;
  const hits = (list: readonly Rule[], certainty: "yes" | "perhaps") =>
    list.find((rule) => isForTool(rule, facts.name) && hitsCommand(rule, command) === certainty);
  const denied = hits(rules.deny, "yes");
  if (denied) return ruleVerdict("refuse", "deny", denied, options);
  const verdicts: Verdict[] = [];
  const perhaps = hits(rules.deny, "perhaps");
  if (perhaps) verdicts.push(rowVerdict("unsure", strings.doubts.denied(perhaps.text), options));
  const allowing = rules.allow.filter((rule) => isForTool(rule, facts.name) && allowsCommand(rule, command));
  // Of two questions, the one about the secret says more.
  if (secret !== undefined) verdicts.push(secretVerdict(secret, allowing, options));
  verdicts.push(options.looks ? rowVerdict("look", strings.looks, options) : runVerdict(command, allowing[0], options));
  const asked = hits(rules.ask, "yes") ?? hits(rules.ask, "perhaps");
  if (asked) verdicts.push(ruleVerdict("ask", "ask", asked, options));
  return strictest(verdicts);
};

/** A command that is not known to look only. */
const runVerdict = (command: SimpleCommand, allowing: Rule | undefined, options: PolicyOptions): Verdict => {
  const outside = redirectBeyond(command, options);
  return outside === undefined
    ? lift(rowVerdict("command", options.strings.runs, options), allowing, options)
    : rowVerdict("command", options.strings.redirected(outside), options);
};

/** A redirect that no allow rule for the command speaks of: a file is written where this mode does not let files be changed. */
const redirectBeyond = (command: SimpleCommand, { places, mode }: PolicyOptions): string | undefined => {
  const editsRun = TABLE.edit[mode] === "allow";
  return command.redirects.find(({ operator, target }) => {
    if ((operator === ">&" || operator === "<&") && /^(\d+-?|-)$/.test(target.text ?? "")) return false;
    return pathsOf(target, command).some((path) => {
      if (path === null || target.glob || path.startsWith("/dev/tcp/") || path.startsWith("/dev/udp/")) return true;
      if (/^\/dev\/(null|stdout|stderr|stdin)$/.test(path)) return false;
      const isRead = operator === "<" || operator === "<&";
      return (
        !(isRead || editsRun) || ![places.workDir, ...(places.addedDirs ?? [])].some((root) => isInside(path, root))
      );
    });
  })?.target.source;
};

const rowOf = ({ kind, permission }: CallFacts): Row => {
  switch (kind) {
    case "read":
      return "look";
    case "edit":
      return "edit";
    case "execute":
      return "command";
    case "other":
      return permission === "low" ? "look" : "medium";
    default:
      return kind satisfies never;
  }
};

const labelOf = (facts: CallFacts, { strings }: PolicyOptions): string => {
  const row = rowOf(facts);
  if (row === "look") return strings.looks;
  if (row === "edit") return strings.edits;
  return row === "command" ? strings.runs : strings.acts;
};

const matchesCall = (rule: Rule, { path, texts = [] }: CallFacts, places: GuardPlaces): boolean => {
  if (rule.pattern === undefined) return true;
  if (path !== undefined) return matchesPath(rule, resolve(places.workDir, path), places);
  return texts.some((text) => matchesPath(rule, resolve(places.workDir, text), places) || text === rule.pattern);
};

const allowsTexts = (rule: Rule, texts: readonly string[]): boolean =>
  rule.pattern === undefined || (texts.length > 0 && texts.every((text) => text === rule.pattern));

const rowVerdict = (row: Row, what: string, { mode, strings }: PolicyOptions): Verdict => ({
  decision: TABLE[row][mode],
  by: row === "secret" || row === "guard" ? row : "mode",
  reason: strings.byMode(mode, what),
});

const ruleVerdict = (decision: Outcome, list: string, rule: Rule, { strings }: PolicyOptions): Verdict => ({
  decision,
  by: "rule",
  rule: rule.text,
  reason: strings.byRule(list, rule.text),
});

const lift = (verdict: Verdict, rule: Rule | undefined, options: PolicyOptions): Verdict =>
  rule !== undefined && verdict.decision === "ask" ? ruleVerdict("allow", "allow", rule, options) : verdict;

const secretVerdict = (path: string, allowing: readonly Rule[], options: PolicyOptions): Verdict => {
  const naming = allowing.find(({ pattern }) =>
    pattern
      ?.split(/\s+/)
      .some((word) => looksSecret(word.replace(/^~/, options.places.homeDir), options.places.homeDir)),
  );
  if (naming) return ruleVerdict("allow", "allow", naming, options);
  return rowVerdict("secret", options.strings.secret(path), options);
};

const STRICTNESS: Readonly<Record<Outcome, number>> = { allow: 0, ask: 1, refuse: 2 };

/** The first of the strictest; there is always one. */
const strictest = (verdicts: readonly Verdict[]): Verdict =>
  verdicts.reduce((best, verdict) => (STRICTNESS[verdict.decision] > STRICTNESS[best.decision] ? verdict : best));
