import { expect, test } from "vitest";
import type { ChatSkills, ListedSkill } from "../../../src/session/skills.ts";
import { runInit } from "../../../src/ui/commands/init.ts";
import { parseSkill, runSkills, sendSkill } from "../../../src/ui/commands/skills.ts";
import { describeSkills } from "../../../src/ui/commands/slash-commands.ts";
import { commandContext } from "../../helpers/command-context.ts";

const skill = (name: string, more: Partial<ListedSkill> = {}): ListedSkill => ({
  name,
  description: `what ${name} is for`,
  origin: "user",
  shown: `~/.harness9/skills/${name}/SKILL.md`,
  ...more,
});

const open = (list: readonly ListedSkill[], skipped: ReturnType<ChatSkills["skipped"]> = []) => {
  const skills: ChatSkills = {
    list: () => list,
    skipped: () => skipped,
    message: (name, words) => `[${name}] ${words}`,
  };
  return { chat: { skills }, ...commandContext({ chat: { skills } }) };
};

test("/skills lists what there is, where it comes from, and what was left out and why", () => {
  const { context, said } = open(
    [skill("pdf"), skill("help", { origin: "project", shown: ".agents/skills/help/SKILL.md" })],
    [{ shown: ".claude/skills/x/SKILL.md", reason: "it has no description" }],
  );
  runSkills("", context);
  expect(said()).toEqual([
    "! Skills:",
    "/pdf  (yours)",
    "what pdf is for",
    "~/.harness9/skills/pdf/SKILL.md",
    "/help  (the project's)  the chat has a command of this name, which wins",
    "what help is for",
    ".agents/skills/help/SKILL.md",
    "! left out the skill .claude/skills/x/SKILL.md: it has no description",
  ]);
});

test("without skills it says where they would be", () => {
  const { context, said } = open([]);
  runSkills("", context);
  expect(said().join(" ")).toContain("A skill is a folder with a SKILL.md in ~/.harness9/skills");
});

test("/name and words send the skill's text and the words; another name sends nothing", () => {
  const { context, sent } = open([skill("Ship_it")]);
  expect(sendSkill({ name: "ship_IT", argument: "to staging" }, context)).toBe(true);
  expect(sendSkill({ name: "ship", argument: "" }, context)).toBe(false);
  expect(sent).toEqual(["[Ship_it] to staging"]);
});

test.each([
  ["/ship_it", { name: "ship_it", argument: "" }],
  ["/SHIP_IT  to\nstaging \n", { name: "SHIP_IT", argument: "to\nstaging" }],
  ["/ship_it\nnext line", undefined],
  ["/usr_local", undefined],
  [" /ship_it", undefined],
  ["/ship_it/x", undefined],
  ["ship_it", undefined],
])("%j calls up %j", (text, command) => {
  const { context } = open([skill("ship_it")]);
  expect(parseSkill(text, context.chat)).toEqual(command);
});

test("the menu has the skills, but for those whose name a command has", () => {
  expect(describeSkills([skill("pdf"), skill("Help"), skill("new")])).toEqual([
    { name: "pdf", aliases: [], hint: "", description: "what pdf is for" },
  ]);
});

test("/init sends an order, and the person's words after it", () => {
  const { context, sent } = open([]);
  runInit("", context);
  runInit("only the commands", context);
  expect(sent[0]).toMatch(/^Write AGENTS\.md in the working directory/);
  expect(sent[1]).toBe(`${sent[0]}\n\nonly the commands`);
});
