import { type Inner, isLiteral, type Word } from "./shell-word.ts";

/** A git command, taken apart: `git -C x -c a=b reset --hard` is `reset` with `--hard`. */
export type GitCommand = {
  /** Null when it is not literal, "" when there is none. */
  readonly subcommand: string | null;
  readonly rest: readonly Word[];
  /** The `key=value` texts of `-c` and `--config-env`; null when not literal. */
  readonly settings: readonly (string | null)[];
};

const GLOBAL_WITH_VALUE =
  /^(-C|-c|--git-dir|--work-tree|--namespace|--super-prefix|--config-env|--attr-source|--exec-path)$/;

export const gitCommand = (words: readonly Word[]): GitCommand => {
  const settings: (string | null)[] = [];
  let index = 1;
  for (; index < words.length; index += 1) {
    const word = words[index];
    if (!isLiteral(word)) return { subcommand: null, rest: words.slice(index), settings };
    const { text } = word;
    if (!text.startsWith("-")) return { subcommand: text, rest: words.slice(index + 1), settings };
    if (text === "-c" || text === "--config-env") settings.push(words[index + 1]?.text ?? null);
    if (text.startsWith("--config-env=")) settings.push(text.slice("--config-env=".length));
    if (GLOBAL_WITH_VALUE.test(text) && text !== "--exec-path") index += 1;
  }
  return { subcommand: "", rest: [], settings };
};

const RUNS_PROGRAMS: readonly RegExp[] = [
  /^alias\./,
  /^pager\./,
  /^core\.(pager|editor|sshcommand|fsmonitor|hookspath|askpass|gitproxy|alternaterefscommand|attributesfile)$/,
  /^(sequence\.editor|interactive\.difffilter|init\.templatedir|credential(\..*)?\.helper|sendemail\..*)$/,
  /^(diff\.external|diff\..*\.(command|textconv)|merge\..*\.driver|filter\..*\.(clean|smudge|process))$/,
  /^(gpg\.(.*\.)?program|gpg\.ssh\.defaultkeycommand|(merge|diff)tool\..*\.(cmd|path)|(browser|man)\..*\.(cmd|path))$/,
  /^(include\.path|includeif\..*\.path|trailer\..*\.(cmd|command)|remote\..*\.(vcs|uploadpack|receivepack)|protocol\.(.*\.)?allow)$/,
  /^(submodule\..*\.update|uploadpack\.packobjectshook|url\..*\.(pushinsteadof|insteadof)|hook\..*)$/,
];

/** Whether git runs a program that this setting names. */
export const runsPrograms = (key: string): boolean => {
  const lower = key.toLowerCase();
  return RUNS_PROGRAMS.some((pattern) => pattern.test(lower));
};

/** What a git command runs besides git. */
export const gitInner = (words: readonly Word[]): Inner[] => {
  const { subcommand, rest, settings } = gitCommand(words);
  const inner = settings.flatMap(settingInner);
  if (subcommand === null) inner.push({ type: "unsure", doubt: { kind: "name", subject: "git" } });
  if (subcommand === "submodule" && rest[0]?.text === "foreach") inner.push(...joined(afterOptions(rest.slice(1))));
  if (subcommand === "bisect" && rest[0]?.text === "run" && rest.length > 1) {
    inner.push({ type: "command", words: rest.slice(1) });
  }
  if (subcommand === "rebase") {
    for (const [index, { text }] of rest.entries()) {
      if (text === "-x" || text === "--exec") inner.push(...joined(rest.slice(index + 1, index + 2)));
      if (text?.startsWith("--exec=")) inner.push({ type: "script", text: text.slice("--exec=".length) });
    }
  }
  return inner;
};

const settingInner = (setting: string | null): Inner[] => {
  if (setting === null) return [{ type: "unsure", doubt: { kind: "wrapper", subject: "git -c" } }];
  const [, key = "", value = ""] = /^([^=]*)=?(.*)$/s.exec(setting) ?? [];
  if (!runsPrograms(key) || HARMLESS.test(value) || /hookspath|\.path$|attributesfile|templatedir/i.test(key))
    return [];
  if (!/^alias\./i.test(key)) return [{ type: "script", text: value.replace(/^!/, "") }];
  return [{ type: "script", text: value.startsWith("!") ? value.slice(1) : `git ${value}` }];
};

const HARMLESS = /^(|true|false|cat|:|always|never|user)$/;

const afterOptions = (words: readonly Word[]): readonly Word[] => {
  const start = words.findIndex(({ text }) => text === null || !text.startsWith("-"));
  return start < 0 ? [] : words.slice(start);
};

const joined = (words: readonly Word[]): Inner[] => {
  if (words.length === 0) return [];
  if (!words.every(isLiteral)) return [{ type: "unsure", doubt: { kind: "script", subject: "git" } }];
  return [{ type: "script", text: words.map(({ text }) => text).join(" ") }];
};
