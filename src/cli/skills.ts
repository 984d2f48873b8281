import type { ChatSkills } from "../session/skills.ts";
import { type FoundSkills, NO_SKILLS, type Skill } from "../skills/skill.ts";
import { skillMessage } from "../skills/skill-text.ts";
import { errorMessage } from "../text/error-message.ts";
import { EXIT } from "../text/exit.ts";
import type { Strings } from "../text/strings.ts";
import { UserError } from "../text/user-error.ts";
import { withTilde } from "./memory-folders.ts";
import { skillsIn } from "./project-skills.ts";
import type { Setup } from "./setup.ts";

/** The skills of a session. `waiting` are those that only trust would make count. */
export type SessionSkills = FoundSkills & { readonly waiting: readonly Skill[] };

/** The skills that count: the person's, then those of a trusted project. */
export const openSkills = async (setup: Setup): Promise<SessionSkills> => {
  const { paths, homeDir, projectSkills: ofProject, trusted } = setup;
  const dir = paths.skills;
  const own = await skillsIn([{ origin: "user", dir, shown: withTilde(dir, homeDir), within: null }]);
  if (ofProject === NO_SKILLS) return { ...own, waiting: [] };
  if (!trusted)
    return { skills: own.skills, skipped: [...own.skipped, ...ofProject.skipped], waiting: ofProject.skills };
  const { firstOfEach } = await import("../skills/find-skills.ts");
  return { ...firstOfEach([own, ofProject]), waiting: [] };
};

/** A sentence for each skill that was left out for a reason of its own. */
export const skillWarnings = ({ skipped }: FoundSkills, strings: Strings["skills"]): readonly string[] =>
  skipped.map(({ shown, problem }) => strings.skipped(shown, problem(strings)));

/** What the chat may see of a session's skills. */
export const chatSkills = (found: () => SessionSkills, strings: Strings["skills"]): ChatSkills => ({
  list: () => found().skills,
  skipped: () => {
    const { skipped, waiting } = found();
    return [
      ...waiting.map(({ shown }) => ({ shown, reason: strings.needsTrust })),
      ...skipped.map(({ shown, problem }) => ({ shown, reason: problem(strings) })),
    ];
  },
  message: (name, words) => {
    const skill = found().skills.find((one) => one.name === name);
    if (!skill) throw new Error(`no skill ${name}`);
    try {
      return skillMessage(skill, words, strings);
    } catch (error) {
      throw new UserError(errorMessage(error), { exitCode: EXIT.failed, cause: error });
    }
  },
});
