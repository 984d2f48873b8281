import { visibleControls } from "../text/clean.ts";
import { errorMessage } from "../text/error-message.ts";
import type { SkillProblem } from "./skill.ts";

const MAX_DESCRIPTION = 1024;
const NAME = /^[a-zA-Z0-9_-]{1,64}$/;

/** `null`: the text ends before the front matter does. */
export type SplitText = { readonly head: string; readonly body: string } | null | undefined;

/** The text between two lines `---` at the top and what follows; undefined where there is none. */
export const splitFrontMatter = (text: string): SplitText => {
  const plain = text.replace(/^\uFEFF/, "").replaceAll("\r\n", "\n");
  if (!/^---[ \t]*\n/.test(plain)) return undefined;
  const [first = ""] = /^---[ \t]*\n/.exec(plain) ?? [];
  const rest = plain.slice(first.length);
  const end = /(?:^|\n)---[ \t]*(?:\n|$)/.exec(rest);
  if (!end) return null;
  return { head: rest.slice(0, end.index), body: rest.slice(end.index + end[0].length) };
};

export type SkillHead = { readonly name: string; readonly description: string };

/** What a front matter says of its skill; without a name it has its folder's. */
export const parseHead = async (
  head: string,
  folderName: string,
): Promise<SkillHead | { readonly problem: SkillProblem }> => {
  const parsed = await parseValues(head);
  if ("problem" in parsed) return parsed;
  const { name: given = "", description: described } = parsed.values;
  // A list or a map is no name, and need not be a value that has a text at all.
  const name = typeof given === "string" ? given.trim() || folderName : "…";
  if (!NAME.test(name)) return { problem: (strings) => strings.nameInvalid(visibleControls(name)) };
  const description = typeof described === "string" ? visibleControls(described.replace(/\s+/g, " ").trim()) : "";
  if (description === "") return { problem: (strings) => strings.descriptionMissing };
  const characters = [...description];
  const isLong = characters.length > MAX_DESCRIPTION;
  return { name, description: isLong ? `${characters.slice(0, MAX_DESCRIPTION - 1).join("")}…` : description };
};

type Values = Readonly<Record<string, unknown>>;

// The parser's time grows with the power of the depth: 500 keys `? ? ? …` would take hours.
const MAX_BRACKETS = 200;
const MAX_QUESTION_MARKS = 20;

const isNested = (head: string): boolean =>
  (head.match(/[[{]/g)?.length ?? 0) > MAX_BRACKETS || (head.match(/\?(?=\s)/g)?.length ?? 0) > MAX_QUESTION_MARKS;

const parseValues = async (head: string): Promise<{ readonly values: Values } | { readonly problem: SkillProblem }> => {
  if (isNested(head)) return { problem: (strings) => strings.frontMatterNested };
  // Most sessions have no skill.
  const { parseYaml } = await import("./parse-yaml.ts");
  try {
    const values: unknown = parseYaml(head);
    return { values: typeof values === "object" && values !== null ? { ...values } : {} };
  } catch (error) {
    const reason = visibleControls(errorMessage(error).split("\n")[0]?.replace(/:$/, "") ?? "");
    return { problem: (strings) => strings.frontMatterBroken(reason) };
  }
};
