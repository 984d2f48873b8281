import { basename } from "node:path";
import type { GuardHit } from "./guarded-paths.ts";
import { operandsStart } from "./options.ts";
import { isLiteral, type Word } from "./shell-word.ts";
import type { SimpleCommand } from "./simple-command.ts";

/** A command that has harness9 itself change what it may do, or starts it with more rights than it has. */
export const ownHits = (command: SimpleCommand): GuardHit[] => {
  const own = ownArguments(command.words);
  const variable = own !== undefined || !startsProgram(command) ? raisingVariable(command) : undefined;
  const raised = variable ?? (own && raisingFlag(own));
  const found = raised === undefined ? own && changeOf(own) : { name: raised, isCertain: true };
  if (found === undefined) return [];
  const subject = command.words[0]?.source ?? found.name;
  return [{ rule: `harness9 ${found.name}`, subject, harm: "ownRules", isCertain: found.isCertain }];
};

type Change = { readonly name: string; readonly isCertain: boolean };

/** The subcommand that changes our settings. */
const changeOf = (own: readonly Word[]): Change | undefined => {
  if (own.some(({ text }) => text === "--help" || text === "-h")) return undefined;
  const start = operandsStart(own, 0, OPTIONS);
  if (start === null) return own.some((word) => !isLiteral(word)) ? { name: "…", isCertain: false } : undefined;
  const [subcommand, verb] = own.slice(start);
  if (subcommand === undefined) return undefined;
  if (!isLiteral(subcommand)) return { name: subcommand.source, isCertain: false };
  const { text } = subcommand;
  const changing = Object.hasOwn(CHANGES, text) ? CHANGES[text] : undefined;
  if (changing === undefined) return undefined;
  if (verb !== undefined && !isLiteral(verb)) return { name: text, isCertain: false };
  if (!changing.test(verb?.text ?? "")) return undefined;
  return { name: verb === undefined || text === "trust" ? text : `${text} ${verb.text}`, isCertain: true };
};

/** What changes our settings, by subcommand and the word behind it; "" where there is none. */
const CHANGES: Readonly<Record<string, RegExp>> = {
  trust: /^/,
  config: /^(set|key|unset|edit)$/,
  mcp: /^(add|remove|rm|edit)/,
  permissions: /^(?!(list|explain|)$)/,
};

const raisingFlag = (own: readonly Word[]): string | undefined => {
  const end = own.findIndex(({ text }) => text === "--");
  const texts = (end < 0 ? own : own.slice(0, end)).map(({ text }) => text ?? "");
  const found = texts.findIndex((text, index) => {
    const [name = "", value = texts[index + 1]] = text.split("=", 2);
    return RAISING_FLAG.test(name) || (name === "--permission-mode" && value === "yolo");
  });
  return found < 0 ? undefined : texts[found]?.split("=", 1)[0];
};

const RAISING_FLAG = /^--(yolo|trust|allow|no-guard|add-dir|config|mcp-config)$/;

/** Our options, so that the subcommand can be told from their values. */
const OPTIONS = {
  flags: "pcvh",
  values: "mCors",
  long: [
    ..."model provider cwd thinking effort permission-mode deny max-turns max-cost max-tokens max-time output-format".split(
      " ",
    ),
    ..."json-schema output session system-prompt system-prompt-file append-system-prompt append-system-prompt-file".split(
      " ",
    ),
    ..."log-file".split(" "),
  ]
    .map((name) => `${name}=`)
    .concat("print continue resume fork no-session verbose version help json".split(" ")),
};

/** Programs that run a package's program, and the words that may stand before its name. */
const RUNNERS = /^(npx|bunx|pnpx|npm|pnpm|yarn|bun)$/;
const BEFORE_PACKAGE = /^(-.*|exec|x|dlx|run|harness9(@.*)?)$/;
const ENGINES = /^(node|nodejs|bun|deno|tsx|ts-node)$/;

/** The arguments of a harness9 that the command starts, by its name, by a package runner or by its file. */
const ownArguments = ([first, ...rest]: readonly Word[]): readonly Word[] | undefined => {
  if (!isLiteral(first)) return undefined;
  const name = basename(first.text);
  if (name === "harness9" || isOwnFile(first)) return rest;
  const file = ENGINES.test(name) ? rest.findIndex(isOwnFile) : -1;
  if (file >= 0) return rest.slice(file + 1);
  const own = RUNNERS.test(name) ? rest.findIndex(isOwnName) : -1;
  if (own < 0 || !rest.slice(0, own).every(({ text }) => BEFORE_PACKAGE.test(text ?? ""))) return undefined;
  // `npx -p harness9 -- harness9 trust`
  const after = rest.slice(own + 1);
  return after.slice(after.findLastIndex((word, index) => index < 2 && (isOwnName(word) || word.text === "--")) + 1);
};

const isOwnName = ({ text }: Word): boolean => /^harness9(@|$)/.test(text ?? "");

const isOwnFile = ({ text }: Word): boolean =>
  /(^|\/)(harness9\.js|\.bin\/harness9|harness9\/dist\/cli\.js)$/.test(text ?? "");

/** `HARNESS9_PERMISSION_MODE=yolo` and its like: before our name, alone, or exported. */
const raisingVariable = ({ words: [first, ...rest], assigned }: SimpleCommand): string | undefined => {
  const exported = EXPORTS.test(first?.text ?? "")
    ? rest.flatMap(({ source }) => /^\w+(?==)/.exec(source)?.[0] ?? [])
    : [];
  return [...assigned, ...exported].find((name) => RAISING_VARIABLE.test(name));
};

const RAISING_VARIABLE = /^HARNESS9_(PERMISSION_MODE|HOME|ALLOW|ADD_DIRS|SANDBOX.*|TRUST.*)$/;
const EXPORTS = /^(export|declare|typeset|readonly)$/;

/** Whether the command is a program, which its variables are for alone. */
const startsProgram = ({ words: [first] }: SimpleCommand): boolean =>
  first !== undefined && !EXPORTS.test(first.text ?? "");
