export type GitSetting = {
  /** Lower case, without the subsection: `remote.url`. */
  readonly key: string;
  readonly value: string;
};

/**
 * The settings of a git configuration file; null where it holds anything but plain lines. Git's own grammar is larger
 * (quotes, escapes, a key behind its section's bracket): what is not read here exactly as git reads it is not read at all.
 */
export const readGitConfig = (text: string): readonly GitSetting[] | null => {
  const settings: GitSetting[] = [];
  let section: string | undefined;
  for (const line of text.split(/\r?\n/)) {
    if (NOT_PLAIN.test(line)) return null;
    if (/^[\t ]*([#;].*)?$/.test(line)) continue;
    const [, name] = /^[\t ]*\[([A-Za-z0-9-]+)(?:[\t ]+"[^"]*")?\][\t ]*$/.exec(line) ?? [];
    if (name !== undefined) {
      section = name.toLowerCase();
      continue;
    }
    const [, key, value] = /^[\t ]*([A-Za-z][A-Za-z0-9-]*)[\t ]*(?:=(.*))?$/.exec(line) ?? [];
    if (section === undefined || key === undefined) return null;
    if (value?.includes('"')) return null;
    settings.push({ key: `${section}.${key.toLowerCase()}`, value: withoutComment(value) });
  }
  return settings;
};

/** A backslash continues a line or escapes; other control characters are blanks to some readers. */
const NOT_PLAIN = /[\\\x00-\x08\x0b-\x1f\x7f]|^\ufeff/;

/** A key alone is true. */
const withoutComment = (value: string | undefined): string =>
  value === undefined ? "true" : value.replace(/[#;].*$/, "").trim();

const PLAIN_KEY =
  /^(core\.(filemode|logallrefupdates|ignorecase|precomposeunicode|symlinks|autocrlf|eol|safecrlf)|remote\.(url|fetch|pushurl|tagopt|prune)|branch\.(remote|pushremote|merge|rebase|description|vscode-merge-base)|user\.(name|email)|pull\.(rebase|ff)|push\.(default|autosetupremote|followtags)|fetch\.(prune|prunetags)|init\.defaultbranch|color\.[a-z]+|lfs\.repositoryformatversion)$/;

/** Whether no setting of the file can make git run a program, read other files of settings or look elsewhere. */
export const isPlainGitConfig = (text: string): boolean =>
  readGitConfig(text)?.every(({ key, value }) => {
    if (key === "core.bare") return value === "false";
    if (key === "core.repositoryformatversion") return value === "0";
    return PLAIN_KEY.test(key);
  }) ?? false;
