import { basename, dirname } from "node:path";
import { segmentMatches, widenGlob } from "./glob.ts";
import { operandsOf } from "./options.ts";
import type { Word } from "./shell-word.ts";
import type { SimpleCommand } from "./simple-command.ts";

/** Whether a file of this name usually holds keys or passwords. A template of one (`.env.example`) does not. */
export const looksSecret = (path: string, homeDir?: string): boolean => {
  const name = basename(path).toLowerCase();
  if (HOLDS_NO_SECRET.test(name)) return false;
  if (SECRET_NAMES.some((pattern) => pattern.test(name))) return true;
  if (
    path
      .split("/")
      .slice(0, -1)
      .some((segment) => SECRET_FOLDERS.has(segment))
  )
    return !name.endsWith(".pub");
  return homeDir !== undefined && dirname(path) === homeDir && SECRET_IN_HOME.has(name);
};

const HOLDS_NO_SECRET =
  /\.(example|sample|template|tmpl|dist|defaults?|pub|md)$|^(process|import\.meta|deno|bun)\.env$/;

const SECRET_NAMES: readonly RegExp[] = [
  /^\.env(rc)?$|^\.env\.|.\.env$/,
  // Not `.key` alone: that is a filter of jq.
  /[^.].*\.key$|^[^.]\.key$/,
  /\.(pem|p12|pfx|jks|keystore|kdbx|ppk)$/,
  /^id_(rsa|dsa|ecdsa|ed25519)(_sk)?$/,
  /^[._]netrc$|^\.(pgpass|my\.cnf|git-credentials|htpasswd|pypirc|vault-token)$/,
  /^(credentials|client_secret.*|service[-_]account.*)(\.json)?$|^secrets?\.(json|ya?ml|toml|env)$/,
];

const SECRET_FOLDERS: ReadonlySet<string> = new Set([".ssh", ".aws", ".kube", ".gnupg", ".gcloud", "gcloud"]);

const SECRET_IN_HOME: ReadonlySet<string> = new Set([".npmrc", ".yarnrc.yml", ".dockercfg", ".boto", ".s3cfg"]);

/** The first word of the command that names a secret-looking file, for reading or writing. */
export const secretIn = (command: SimpleCommand, homeDir: string): string | undefined => {
  for (const { target } of command.redirects) if (namesSecret(target, homeDir)) return target.source;
  return fileWords(command.words).find((word) => namesSecret(word, homeDir))?.source;
};

/** The words that may name files: not what is only printed, listed or searched for. */
const fileWords = (words: readonly Word[]): readonly Word[] => {
  const name = basename(words[0]?.text ?? "");
  if (NAMES_ONLY.has(name)) return [];
  const rest = words.slice(1);
  const isSearch = SEARCHES.has(name) || (name === "git" && rest[0]?.text === "grep");
  if (!isSearch) return rest;
  const pattern = operandsOf(name === "git" ? rest.slice(1) : rest)[0];
  return rest.filter((word) => word !== pattern);
};

const NAMES_ONLY: ReadonlySet<string> = new Set(["echo", "printf", "test", "[", "ls", "stat"]);
const SEARCHES: ReadonlySet<string> = new Set("grep egrep fgrep rg ag ack sed awk gawk jq yq".split(" "));

const namesSecret = ({ text, glob }: Word, homeDir: string): boolean => {
  if (text === null || /\s/.test(text)) return false;
  // `--env-file=.env`, `@.env`, `host:.env`
  const paths = [text, ...text.split(/[=:@,]/).slice(1)];
  if (!glob) return paths.some((path) => looksSecret(path, homeDir));
  const pattern = widenGlob(basename(text)).toLowerCase();
  // A lone star matches no hidden file and says nothing about the rest.
  return /[a-z.]/.test(pattern) && EXAMPLES.some((name) => hidesAlike(pattern, name) && segmentMatches(pattern, name));
};

const hidesAlike = (pattern: string, name: string): boolean => !name.startsWith(".") || pattern.startsWith(".");

const EXAMPLES = [
  ".env",
  ".env.local",
  ".env.production",
  ".netrc",
  "id_rsa",
  "id_ed25519",
  "server.pem",
  "server.key",
];
