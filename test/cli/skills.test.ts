import { expect, test } from "vitest";
import { modelServer, openAIAnswer, type ReceivedRequest } from "../helpers/model-server.ts";
import { newPlace, openAIEnv, type Place, put, runProgram, toolCalls } from "../helpers/program.ts";

const skill = (name: string): string =>
  `---\nname: ${name}\ndescription: what ${name} is for\n---\n\nBody of ${name}.\n`;

type Tool = { readonly function: { readonly name: string; readonly description: string } };
type Request = { readonly messages: readonly { readonly content: string }[]; readonly tools: readonly Tool[] };
const bodyOf = (request: ReceivedRequest | undefined): Request => request?.body as Request;

/** The tools beside our own, and what the program says on standard error. */
const offered = async (place: Place, args: readonly string[] = []) => {
  const server = await modelServer([openAIAnswer("Hello.")]);
  const { stderr } = await runProgram(["run", ...args, "go"], { place, env: openAIEnv(server) });
  const { tools, messages } = bodyOf(server.requests[0]);
  const skills = tools.slice(6).map((tool) => `${tool.function.name}: ${tool.function.description}`);
  return { skills, stderr, prompt: messages[0]?.content ?? "" };
};

test("a person's skills are tools, whose names alone stand in the prompt", async () => {
  const place = newPlace();
  put(place.home, ".harness9/skills/pdf/SKILL.md", skill("pdf"));
  put(place.home, ".harness9/skills/broken/SKILL.md", "no front matter");
  put(place.home, ".harness9/skills/shell/SKILL.md", skill("bash"));
  const { skills, stderr, prompt } = await offered(place);
  expect(skills).toEqual(["pdf: what pdf is for"]);
  expect(prompt).toMatch(/# Skills\n.*: pdf\.$/s);
  expect(prompt).not.toContain("Body of");
  expect(stderr).toContain("left out the skill ~/.harness9/skills/broken/SKILL.md: no front matter");
  expect(stderr).toContain("left out the skill ~/.harness9/skills/shell/SKILL.md: 'bash' is the name of a tool");
});

test("the model calls one, and reads its further files, which are outside of the work directory", async () => {
  const place = newPlace();
  put(place.home, ".harness9/skills/pdf/SKILL.md", skill("pdf"));
  const more = put(place.home, ".harness9/skills/pdf/forms.md", "fill them\n");
  const server = await modelServer([
    toolCalls([["pdf", {}]], "a"),
    toolCalls([
      ["read_file", { path: more }],
      ["write_file", { path: more, content: "x" }],
      ["read_file", { path: `${place.home}/.harness9/config.json` }],
    ]),
    openAIAnswer("Done."),
  ]);
  put(place.home, ".harness9/config.json", "{}");
  await runProgram(["run", "go"], { place, env: openAIEnv(server) });
  expect(bodyOf(server.requests[1]).messages.at(-1)?.content).toBe(
    `The skill's folder: ${place.home}/.harness9/skills/pdf (read_file can read its files)\n\nBody of pdf.`,
  );
  const [read, written, config] = bodyOf(server.requests[2]).messages.slice(-3);
  expect(read?.content).toBe("fill them\n");
  expect(written?.content).toContain("protected");
  expect(config?.content).toContain("protected");
});

test("a project's skills count with trust alone, the first of a name, and what was left out is said", async () => {
  const place = newPlace();
  put(place.workDir, ".harness9/skills/one/SKILL.md", skill("one"));
  put(place.workDir, ".agents/skills/two/SKILL.md", skill("two"));
  put(place.workDir, ".claude/skills/two/SKILL.md", skill("two"));
  put(place.workDir, ".claude/skills/mine/SKILL.md", skill("mine"));
  put(place.home, ".harness9/skills/mine/SKILL.md", skill("mine"));
  const untrusted = await offered(place);
  expect(untrusted.skills).toEqual(["mine: what mine is for"]);
  expect(untrusted.stderr).toContain("the project has 3 skills that count only in a trusted folder (--trust)");
  const trusted = await offered(place, ["--trust"]);
  expect(trusted.skills).toEqual(["mine: what mine is for", "one: what one is for", "two: what two is for"]);
  expect(trusted.stderr).toContain(
    "left out the skill .claude/skills/two/SKILL.md: the skill 'two' is in .agents/skills/two/SKILL.md already",
  );
  expect(trusted.stderr).toContain("the skill 'mine' is in ~/.harness9/skills/mine/SKILL.md already");
});

test("trust is about the skills that there were: a new one asks again, a new text of one does not", async () => {
  const place = newPlace();
  put(place.workDir, ".agents/skills/one/SKILL.md", skill("one"));
  await runProgram(["trust"], { place });
  const before = (await offered(place)).skills.length;
  expect(before).toBe(1);
  put(place.workDir, ".agents/skills/one/SKILL.md", `${skill("one")}More.\n`);
  expect((await offered(place)).skills.length).toBe(1);
  put(place.workDir, ".agents/skills/two/SKILL.md", skill("two"));
  expect((await offered(place)).skills.length).toBe(0);
});

test("harness9 tools lists them", async () => {
  const place = newPlace();
  put(place.home, ".harness9/skills/pdf/SKILL.md", skill("pdf"));
  expect((await runProgram(["tools"], { place })).stdout).toContain("\npdf\n  what pdf is for\n");
});

test("a yes to a project's skills counts in another language too", async () => {
  const place = newPlace();
  put(place.workDir, ".agents/skills/two/SKILL.md", skill("two"));
  const trust = await runProgram(["trust"], { place, env: { HARNESS9_LANGUAGE: "zh" } });
  expect(trust.stdout).toContain("  .agents/skills/two/SKILL.md  two  what two is for\n");
  expect((await offered(place)).skills).toEqual(["two: what two is for"]);
});
