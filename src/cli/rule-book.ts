import type { Config, OriginRule } from "../config/config.ts";
import { parseRule, type Rule, type Rules, wholeToolRule } from "../permissions/rules.ts";
import type { RuleScope } from "../schema/ask.ts";
import type { ListedRule } from "../session/chat.ts";
import { errorMessage } from "../text/error-message.ts";
import { EXIT } from "../text/exit.ts";
import type { Strings } from "../text/strings.ts";
import { UserError } from "../text/user-error.ts";

export type SavedRule = {
  readonly list: "allow" | "deny";
  readonly rule: string;
  /** `path:line`, or `session`. */
  readonly origin: string;
  readonly scope: RuleScope;
};

/** The rules that count, as the policy reads them and as people do. They change while the program runs. */
export type RuleBook = {
  /** What stands in it at each look. */
  readonly rules: Rules;
  /** The strictest list first. */
  readonly list: () => readonly ListedRule[];
  readonly add: (saved: SavedRule) => void;
  readonly takeBack: (listed: ListedRule) => void;
  /** What was answered for the session goes. */
  readonly forgetSession: () => void;
  /** What is wrong with the rules. */
  readonly warnings: readonly string[];
};

export type RuleBookOptions = {
  readonly rules: Config["rules"];
  /** The files that this program writes rules to. */
  readonly files: { readonly trust: string; readonly config: string };
  readonly strings: Strings["permission"];
};

type Entry = { readonly listed: ListedRule; readonly rule: Rule | undefined };

const LISTS = ["deny", "ask", "allow"] as const;

/**
 * The one place where rules are read. One that is broken never allows anything: as `deny` or `ask` it counts for its
 * whole tool, or for every tool where its name cannot be read.
 * @throws UserError for a broken rule of the command line.
 */
export const createRuleBook = ({ rules: configured, files, strings }: RuleBookOptions): RuleBook => {
  const warnings: string[] = [];
  let entries: readonly Entry[] = LISTS.flatMap((list) => configured[list].map((one) => entryOf(list, one)));

  function entryOf(list: ListedRule["list"], { rule, origin }: OriginRule): Entry {
    const saved = savedScope(list, origin, files);
    const listed: ListedRule = { list, rule, origin, ...(saved && { saved }) };
    try {
      return { listed, rule: parseRule(rule, strings) };
    } catch (error) {
      const problem = `${origin}: ${list}: ${errorMessage(error)}`;
      if (origin === "flag") throw new UserError(problem, { exitCode: EXIT.config, cause: error });
      const whole = list === "allow" ? undefined : wholeToolRule(rule);
      warnings.push(strings.brokenCounts(problem, list, whole?.tool));
      return { listed, rule: whole };
    }
  }

  const read = (list: ListedRule["list"]): readonly Rule[] =>
    entries.flatMap(({ listed, rule }) => (listed.list === list && rule ? [rule] : []));

  return {
    rules: {
      get allow() {
        return read("allow");
      },
      get ask() {
        return read("ask");
      },
      get deny() {
        return read("deny");
      },
    },
    list: () => LISTS.flatMap((list) => entries.flatMap(({ listed }) => (listed.list === list ? [listed] : []))),
    add: ({ list, rule, origin, scope }) => {
      entries = [...entries, { listed: { list, rule, origin, saved: scope }, rule: parseRule(rule, strings) }];
    },
    takeBack: (gone) => {
      entries = entries.filter(({ listed }) => !isSameSaved(listed, gone));
    },
    forgetSession: () => {
      entries = entries.filter(({ listed }) => listed.saved !== "session");
    },
    warnings,
  };
};

/** A rule that was saved twice in one place goes at once. */
const isSameSaved = (one: ListedRule, other: ListedRule): boolean =>
  one.saved !== undefined && one.saved === other.saved && one.list === other.list && one.rule === other.rule;

/** Which of them this program may have written: it saves what allows and what denies. */
const savedScope = (
  list: ListedRule["list"],
  origin: string,
  { trust, config }: RuleBookOptions["files"],
): RuleScope | undefined => {
  if (list === "ask") return undefined;
  const file = origin.replace(/:\d+$/, "");
  if (file === trust) return "project";
  return file === config ? "user" : undefined;
};
