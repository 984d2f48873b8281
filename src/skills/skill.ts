import type { Strings } from "../text/strings.ts";

/** Where a skill comes from: the person's own folder, or the project. */
export type SkillOrigin = "user" | "project";

/** A folder of skills, each a folder with a `SKILL.md`. */
export type SkillsFolder = {
  readonly origin: SkillOrigin;
  readonly dir: string;
  /** As people write it. */
  readonly shown: string;
  /** A skill of a project lies inside this folder, links followed; null where the person's own links count. */
  readonly within: string | null;
};

/** What the head of a `SKILL.md` says, and where it is. */
export type Skill = {
  /** As a tool may be named. */
  readonly name: string;
  /** One line; hidden characters are made visible. */
  readonly description: string;
  readonly origin: SkillOrigin;
  /** The real path of its folder, which holds the `SKILL.md`. */
  readonly folder: string;
  /** The path of the `SKILL.md`, not resolved. */
  readonly path: string;
  /** The same as people write it. */
  readonly shown: string;
};

/** In any language: it is found before the settings are read. */
export type SkillProblem = (strings: Strings["skills"]) => string;

export type SkippedSkill = { readonly shown: string; readonly problem: SkillProblem };

export type FoundSkills = { readonly skills: readonly Skill[]; readonly skipped: readonly SkippedSkill[] };

export const NO_SKILLS: FoundSkills = { skills: [], skipped: [] };

/** The file that makes a folder a skill. */
export const SKILL_FILE = "SKILL.md";
