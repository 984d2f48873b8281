import { readdirSync, realpathSync, statSync } from "node:fs";
import { join, sep } from "node:path";
import { visibleControls } from "../text/clean.ts";
import { errorCode } from "../text/error-message.ts";
import { parseHead, splitFrontMatter } from "./front-matter.ts";
import { readHead } from "./read-head.ts";
import { type FoundSkills, NO_SKILLS, SKILL_FILE, type Skill, type SkillProblem, type SkillsFolder } from "./skill.ts";

/** The front matter stands within it. */
const MAX_HEAD_BYTES = 8 * 1024;
const MAX_SKILLS = 200;

/** The skills of these folders, in their order and by name. Only the heads of the files are read. */
export const findSkills = async (folders: readonly SkillsFolder[]): Promise<FoundSkills> => {
  const found: FoundSkills[] = [];
  for (const folder of folders) for (const name of skillFolders(folder)) found.push(await readSkill(folder, name));
  return firstOfEach(found);
};

/** Several finds as one: the first of a name counts. */
export const firstOfEach = (found: readonly FoundSkills[]): FoundSkills => {
  const skills = new Map<string, Skill>();
  const skipped = found.flatMap((one) => one.skipped);
  for (const skill of found.flatMap((one) => one.skills)) {
    // Letter case aside: a command of the chat is found so too.
    const key = skill.name.toLowerCase();
    const first = skills.get(key);
    if (first) skipped.push({ shown: skill.shown, problem: (strings) => strings.taken(skill.name, first.shown) });
    else if (skills.size >= MAX_SKILLS)
      skipped.push({ shown: skill.shown, problem: (strings) => strings.tooMany(MAX_SKILLS) });
    else skills.set(key, skill);
  }
  return { skills: [...skills.values()], skipped };
};

const skillFolders = ({ dir }: SkillsFolder): readonly string[] => {
  try {
    return readdirSync(dir)
      .filter((name) => !name.startsWith(".") && isThere(join(dir, name, SKILL_FILE)))
      .sort();
  } catch (error) {
    if (["ENOENT", "ENOTDIR", "EACCES"].includes(errorCode(error) ?? "")) return [];
    throw error;
  }
};

const isThere = (path: string): boolean => {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    // Below a file there is nothing; what may not be looked at is named where it is read.
    return errorCode(error) !== "ENOTDIR";
  }
};

const readSkill = async ({ origin, dir, shown, within }: SkillsFolder, name: string): Promise<FoundSkills> => {
  const path = join(dir, name, SKILL_FILE);
  const shownPath = visibleControls(`${shown}/${name}/${SKILL_FILE}`);
  const skip = (problem: SkillProblem): FoundSkills => ({ skills: [], skipped: [{ shown: shownPath, problem }] });
  try {
    const folder = realpathSync(join(dir, name));
    const isInside = within === null || isWithin(folder, realpathSync(within));
    if (!isInside || !isWithin(realpathSync(path), folder)) return skip((strings) => strings.leadsOut);
    const head = readHead(path, MAX_HEAD_BYTES);
    if (head === null) return skip((strings) => strings.notFile);
    const split = splitFrontMatter(head.text);
    if (split === undefined) return skip((strings) => strings.frontMatterMissing);
    if (split === null)
      return skip((strings) =>
        head.bytes > MAX_HEAD_BYTES ? strings.frontMatterTooLong(MAX_HEAD_BYTES) : strings.frontMatterMissing,
      );
    const parsed = await parseHead(split.head, name);
    if ("problem" in parsed) return skip(parsed.problem);
    return { ...NO_SKILLS, skills: [{ ...parsed, origin, folder, path, shown: shownPath }] };
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    // Gone meanwhile, or nobody may read it.
    return skip((strings) => strings.notFile);
  }
};

const isWithin = (path: string, root: string): boolean => path.startsWith(root.endsWith(sep) ? root : root + sep);
