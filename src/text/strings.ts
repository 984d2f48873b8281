import type { Strings } from "./zh.ts";

export type { Strings };

type Env = Readonly<Record<string, string | undefined>>;

export type Language = "zh" | "en";

/** The language of the user's locale: the first of LC_ALL, LC_MESSAGES and LANG that is set decides. */
export const localeLanguage = (env: Env): Language =>
  (env["LC_ALL"] || env["LC_MESSAGES"] || env["LANG"] || "").startsWith("zh") ? "zh" : "en";

/** Loads one catalogue and not the other: they are a large part of what a start has to read. */
export const loadStrings = async (language: Language): Promise<Strings> =>
  language === "zh" ? (await import("./zh.ts")).zh : (await import("./en.ts")).en;

/** The language before any file is read: HARNESS9_LANGUAGE, or the locale. */
export const earlyLanguage = (env: Env): Language => {
  const language = env["HARNESS9_LANGUAGE"];
  return language === "zh" || language === "en" ? language : localeLanguage(env);
};
