import { en } from "./en.ts";
import { type Strings, zh } from "./zh.ts";

export type { Strings };

export type Language = "zh" | "en";

/** The language of the user's locale: the first of LC_ALL, LC_MESSAGES and LANG that is set decides. */
export const localeLanguage = (env: Readonly<Record<string, string | undefined>>): Language =>
  (env["LC_ALL"] || env["LC_MESSAGES"] || env["LANG"] || "").startsWith("zh") ? "zh" : "en";

export const stringsFor = (language: Language): Strings => (language === "zh" ? zh : en);
