import { en } from "./en.ts";
import { type Strings, zh } from "./zh.ts";

export type { Strings };

type Env = Readonly<Record<string, string | undefined>>;

export type Language = "zh" | "en";

/** The language of the user's locale: the first of LC_ALL, LC_MESSAGES and LANG that is set decides. */
export const localeLanguage = (env: Env): Language =>
  (env["LC_ALL"] || env["LC_MESSAGES"] || env["LANG"] || "").startsWith("zh") ? "zh" : "en";

export const stringsFor = (language: Language): Strings => (language === "zh" ? zh : en);

/** The strings before any file is read: the locale, or HARNESS9_LANGUAGE. */
export const earlyStrings = (env: Env): Strings => {
  const language = env["HARNESS9_LANGUAGE"];
  return stringsFor(language === "zh" || language === "en" ? language : localeLanguage(env));
};
