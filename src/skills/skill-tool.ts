import * as z from "zod";
import { errorMessage } from "../text/error-message.ts";
import type { Strings } from "../text/strings.ts";
import { defineTool } from "../tools/define-tool.ts";
import { type Tool, ToolError } from "../tools/tool.ts";
import type { Skill } from "./skill.ts";
import { readSkillText } from "./skill-text.ts";

/** A skill as a tool without arguments, which returns its text and the path of its folder. */
export const createSkillTool = (skill: Skill, strings: Strings): Tool =>
  defineTool(
    {
      name: skill.name,
      description: skill.description,
      schema: z.object({}),
      kind: "other",
      permission: "low",
      execute: async () => {
        try {
          const { folder, body } = readSkillText(skill, strings.skills);
          return `${folder}\n\n${body}`;
        } catch (error) {
          throw new ToolError(errorMessage(error), { cause: error });
        }
      },
    },
    strings.registry,
  ) as Tool;
