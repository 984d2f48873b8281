import { statSync } from "node:fs";
import { join } from "node:path";
import type { TrustItem } from "../config/trust-items.ts";
import { type FoundSkills, NO_SKILLS, type SkillsFolder } from "../skills/skill.ts";

/** In a project, the first of a name counts. */
const PROJECT_FOLDERS = [".harness9/skills", ".agents/skills", ".claude/skills"];

/** What a project's folders hold; it counts only where the folder is trusted. */
export const projectSkills = (workDir: string): Promise<FoundSkills> =>
  skillsIn(
    PROJECT_FOLDERS.map((shown) => ({ origin: "project", dir: join(workDir, shown), shown, within: workDir }) as const),
  );

/** What waits for trust: with a new skill or another description the question comes again, in another language not. */
export const skillTrustItems = ({ skills }: FoundSkills): readonly TrustItem[] =>
  skills.map(({ name, path, description }) => ({ origin: path, name, value: description }));

/** Nothing is loaded where there is no such folder. */
export const skillsIn = async (folders: readonly SkillsFolder[]): Promise<FoundSkills> => {
  const there = folders.filter(({ dir }) => isFolder(dir));
  if (there.length === 0) return NO_SKILLS;
  const { findSkills } = await import("../skills/find-skills.ts");
  return findSkills(there);
};

const isFolder = (path: string): boolean => {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
  } catch {
    // A file stands in the way, or nobody may look: there are no skills.
    return false;
  }
};
