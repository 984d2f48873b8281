import { readdirSync, realpathSync } from "node:fs";
import { sep } from "node:path";
import { visibleControls } from "../text/clean.ts";
import { errorCode } from "../text/error-message.ts";
import type { Strings } from "../text/strings.ts";
import { splitFrontMatter } from "./front-matter.ts";
import { readHead } from "./read-head.ts";
import { SKILL_FILE, type Skill } from "./skill.ts";

/** Of one file; what is beyond can be read with read_file. */
export const MAX_SKILL_BYTES = 64 * 1024;

export type SkillText = {
  /** Without its front matter; hidden characters are made visible. */
  readonly body: string;
  /** A sentence with the folder's path. */
  readonly folder: string;
  /** Whether the folder has more than the text. */
  readonly hasFiles: boolean;
};

/** A skill's text as it is now. @throws Error with a sentence where it cannot be read */
export const readSkillText = (skill: Skill, strings: Strings["skills"]): SkillText => {
  const { folder, path, shown, name } = skill;
  const refuse = (reason: string, cause?: unknown): Error =>
    new Error(strings.unreadable(name, reason), cause === undefined ? undefined : { cause });
  try {
    // It may have become a link since it was found.
    if (!realpathSync(path).startsWith(folder.endsWith(sep) ? folder : folder + sep)) throw refuse(strings.leadsOut);
    const head = readHead(path, MAX_SKILL_BYTES);
    if (head === null) throw refuse(strings.notFile);
    const body = splitFrontMatter(head.text)?.body ?? head.text;
    const isCut = head.bytes > MAX_SKILL_BYTES;
    const note = strings.cut(MAX_SKILL_BYTES, head.bytes, shown, head.text.split("\n").length);
    const text = visibleControls(body.replaceAll("\r\n", "\n"), "\n\t").trim();
    return {
      body: isCut ? `${text}\n${note}` : text,
      folder: strings.folder(visibleControls(folder)),
      hasFiles: readdirSync(folder).some((one) => one !== SKILL_FILE),
    };
  } catch (error) {
    const code = errorCode(error);
    throw code === undefined ? error : refuse(code, error);
  }
};

/** What a person sends with `/name words`: the text, and after a blank line the words. */
export const skillMessage = (skill: Skill, words: string, strings: Strings["skills"]): string => {
  const { body, folder, hasFiles } = readSkillText(skill, strings);
  return [...(hasFiles ? [folder] : []), body, ...(words.trim() === "" ? [] : [words.trim()])].join("\n\n");
};
