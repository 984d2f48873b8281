import { ConfigError } from "../config/config-error.ts";
import { editFile } from "../config/edit-file.ts";
import { readJsonc } from "../config/jsonc.ts";
import { ensurePrivateDir } from "../config/paths.ts";
import { removeFromList } from "../config/remove-from-list.ts";
import { removeProjectRule, saveProjectRule } from "../config/trust.ts";
import type { Answer, Ask, PermissionQuestion, RuleScope } from "../schema/ask.ts";
import type { ListedRule } from "../session/chat.ts";
import { errorMessage } from "../text/error-message.ts";
import type { Strings } from "../text/strings.ts";
import type { SavedRule } from "./rule-book.ts";
import { writing } from "./writing.ts";

/** Where saved rules stand. */
export type RuleFiles = {
  readonly workDir: string;
  readonly homeDir: string;
  /** Of the folder's rules. What a project's own files allow counts for nothing, so a person's yes is kept elsewhere. */
  readonly trustFile: string;
  /** Of the rules for every folder. */
  readonly configFile: string;
  /** Ours alone: it is made and kept private. */
  readonly harnessHome: string;
  readonly strings: Strings;
};

export type SaveRulesOptions = RuleFiles & {
  /** Hears of a rule that counts from now on, also of one for the session. */
  readonly onSaved: (rule: SavedRule) => void;
  /** Hears of a rule that could not be saved. */
  readonly tell: (text: string) => void;
};

/**
 * An `Ask` that writes down the rules which a person saves for the folder or for every folder, exactly as they were offered,
 * before it passes on the answer. A rule that cannot be written counts for the session.
 */
export const savingRules =
  (ask: Ask, options: SaveRulesOptions): Ask =>
  async (question, signal, reviser) => {
    if (question.kind !== "permission") return ask(question, signal);
    const offers = question.offers.map((offer) => ({ ...offer, ...placeOf(offer.scope, options) }));
    const answer = await ask({ ...question, offers }, signal, reviser);
    if (!("decision" in answer) || answer.scope === "once") return answer;
    const { scope } = answer;
    if (changesCall(answer, question)) return answer;
    const rule = offeredRule(question, scope, answer.rule);
    if (rule === undefined) return answer;
    const list = answer.decision === "allow" ? "allow" : "deny";
    const forSession = () => options.onSaved({ list, rule, origin: "session", scope: "session" });
    if (scope === "session") {
      forSession();
      return answer;
    }
    try {
      const origin = await saveRule({ scope, list, rule }, options);
      options.onSaved({ list, rule, origin, scope });
      return answer;
    } catch (error) {
      options.tell(options.strings.chat.ruleNotSaved(rule, errorMessage(error)));
      forSession();
      return { ...answer, scope: "session", rule };
    }
  };

/** No rule was offered for what a person has made of a call. */
const changesCall = (answer: Answer, question: PermissionQuestion): boolean =>
  "arguments" in answer && answer.arguments !== undefined && answer.arguments !== question.arguments;

const offeredRule = ({ offers }: PermissionQuestion, scope: RuleScope, named: string | undefined): string | undefined =>
  offers.find((offer) => offer.scope === scope && (named ?? offer.rule) === offer.rule)?.rule;

/** The file that a scope's rules stand in, as people write it. */
const placeOf = (
  scope: RuleScope,
  { trustFile, configFile, homeDir }: SaveRulesOptions,
): { readonly place?: string } => {
  if (scope === "session") return {};
  const file = scope === "project" ? trustFile : configFile;
  return { place: file.startsWith(`${homeDir}/`) ? `~${file.slice(homeDir.length)}` : file };
};

type RuleToSave = {
  readonly scope: "project" | "user";
  readonly list: "allow" | "deny";
  readonly rule: string;
};

/** Returns where it stands now. */
const saveRule = ({ scope, list, rule }: RuleToSave, options: RuleFiles): Promise<string> => {
  const { workDir, trustFile, configFile, harnessHome, strings } = options;
  if (scope === "project") {
    const file = { path: trustFile, workDir, strings: strings.config };
    return writing(trustFile, strings.cli, () => saveProjectRule(file, list, rule));
  }
  return writing(configFile, strings.cli, async () => {
    if (configFile.startsWith(`${harnessHome}/`)) await ensurePrivateDir(harnessHome);
    await addToList(configFile, list, rule, strings.config);
    const line = (await readJsonc(configFile, strings.config))?.find(({ key }) => key === list)?.line;
    return line === undefined ? configFile : `${configFile}:${line}`;
  });
};

/** Takes a saved rule out of the file that it stands in; all else there stays. One for the session stands in none. */
export const removeSavedRule = async ({ saved, list, rule }: ListedRule, options: RuleFiles): Promise<void> => {
  if (list === "ask") return;
  const { workDir, trustFile, configFile, strings } = options;
  if (saved === "project") {
    const file = { path: trustFile, workDir, strings: strings.config };
    await writing(trustFile, strings.cli, () => removeProjectRule(file, list, rule));
  } else if (saved === "user") {
    await writing(configFile, strings.cli, () => removeFromList(configFile, [list], rule, strings.config));
  }
};

const addToList = async (file: string, key: string, text: string, strings: Strings["config"]): Promise<void> => {
  const property = (await readJsonc(file, strings))?.find((candidate) => candidate.key === key);
  const list = property?.value ?? [];
  if (!Array.isArray(list)) throw new ConfigError(strings.invalid(`${file}:${property?.line}`, key, "expected a list"));
  if (!list.includes(text)) await editFile(file, [key, -1], text, strings);
};
