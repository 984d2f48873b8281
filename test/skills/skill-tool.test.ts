import { rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Skill } from "../../src/skills/skill.ts";
import { MAX_SKILL_BYTES, skillMessage } from "../../src/skills/skill-text.ts";
import { createSkillTool } from "../../src/skills/skill-tool.ts";
import { en } from "../../src/text/en.ts";
import { Registry } from "../../src/tools/registry.ts";
import { callTool } from "../helpers/call-tool.ts";
import { put } from "../helpers/program.ts";
import { tempDir } from "../helpers/temp-dir.ts";

const skillWith = (body: string): Skill => {
  const folder = join(tempDir(), "deploy");
  const path = put(folder, "SKILL.md", `---\nname: deploy\ndescription: ships it\n---\n${body}`);
  return {
    name: "deploy",
    description: "ships it",
    origin: "project",
    folder,
    path,
    shown: ".agents/skills/deploy/SKILL.md",
  };
};

test("a skill is a tool without arguments, which says where its folder is and what to do", async () => {
  const skill = skillWith("\n# Deploy\r\n\r\nRun it.\u200b\n");
  const tool = createSkillTool(skill, en);
  expect(tool.definition).toEqual({
    name: "deploy",
    description: "ships it",
    inputSchema: { type: "object", properties: {} },
  });
  expect([tool.kind, tool.permission]).toEqual(["other", "low"]);
  for (const args of [{}, { why: "models do that" }])
    expect(await callTool(tool, args)).toMatchObject({
      isError: false,
      output: `The skill's folder: ${skill.folder} (read_file can read its files)\n\n# Deploy\n\nRun it.\\u{200b}`,
    });
  const registry = new Registry({ strings: en.registry });
  registry.register(tool);
});

test("the text is read when it is called, and what is gone or has become a link is an error", async () => {
  const skill = skillWith("old");
  const tool = createSkillTool(skill, en);
  put(skill.folder, "SKILL.md", "new");
  expect((await callTool(tool, {})).output).toMatch(/\n\nnew$/);
  rmSync(skill.path);
  expect(await callTool(tool, {})).toMatchObject({ isError: true, output: "cannot read the skill 'deploy': ENOENT" });
  symlinkSync(put(tempDir(), "secret", "hunter2"), skill.path);
  expect(await callTool(tool, {})).toMatchObject({
    isError: true,
    output: "cannot read the skill 'deploy': a link that leads out of the skill's folder or of the project",
  });
});

test("a long text is cut on a character, with the line to go on from", async () => {
  const skill = skillWith("长长长\n".repeat(10_000));
  const { output } = await callTool(createSkillTool(skill, en), {});
  expect(output).not.toContain("\uFFFD");
  expect(output).toMatch(
    /长\n\.\.\.\[the first 65536 of \d+ bytes\. Read the rest with read_file: \S+ from line \d+\]\.\.\.$/,
  );
  expect(Buffer.byteLength(output)).toBeLessThan(MAX_SKILL_BYTES + 1000);
});

test("a person's words come after the text, and the folder where it has more files", () => {
  const skill = skillWith("\nDo it.\n");
  expect(skillMessage(skill, "", en.skills)).toBe("Do it.");
  expect(skillMessage(skill, " to staging\n", en.skills)).toBe("Do it.\n\nto staging");
  put(skill.folder, "scripts/run.sh", "x");
  expect(skillMessage(skill, "now", en.skills)).toBe(
    `The skill's folder: ${skill.folder} (read_file can read its files)\n\nDo it.\n\nnow`,
  );
});
