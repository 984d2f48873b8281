import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, truncateSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { findSkills, firstOfEach } from "../../src/skills/find-skills.ts";
import { parseHead, splitFrontMatter } from "../../src/skills/front-matter.ts";
import type { FoundSkills, SkillsFolder } from "../../src/skills/skill.ts";
import { en } from "../../src/text/en.ts";
import { put } from "../helpers/program.ts";
import { tempDir } from "../helpers/temp-dir.ts";

const head = (name: string, description = `does ${name}`): string =>
  `---\nname: ${name}\ndescription: ${description}\n---\n\nbody of ${name}\n`;

const open = () => {
  const root = tempDir();
  const dir = join(root, "project", ".agents", "skills");
  mkdirSync(dir, { recursive: true });
  const folder: SkillsFolder = { origin: "project", dir, shown: ".agents/skills", within: join(root, "project") };
  return { root, dir, folder };
};

const reasons = ({ skipped }: FoundSkills): readonly string[] =>
  skipped.map(({ shown, problem }) => `${shown}: ${problem(en.skills)}`);

test("each folder with a SKILL.md is a skill, by name", async () => {
  const { dir, folder } = open();
  put(dir, "b/SKILL.md", head("beta"));
  put(dir, "a/SKILL.md", "---\r\ndescription: >\r\n  in two\r\n  lines\r\nlicense: MIT\r\n---\r\nbody");
  put(dir, "README.md", "none");
  put(dir, "empty/other.md", head("other"));
  put(dir, ".hidden/SKILL.md", head("hidden"));
  expect(await findSkills([folder])).toEqual({
    skills: [
      {
        name: "a",
        description: "in two lines",
        origin: "project",
        folder: join(dir, "a"),
        path: join(dir, "a", "SKILL.md"),
        shown: ".agents/skills/a/SKILL.md",
      },
      expect.objectContaining({ name: "beta", description: "does beta" }),
    ],
    skipped: [],
  });
});

test("a folder that is not there has no skills", async () => {
  const { folder, root } = open();
  put(root, "file", "x");
  expect(
    await findSkills([
      { ...folder, dir: join(root, "gone") },
      { ...folder, dir: join(root, "file") },
    ]),
  ).toEqual({
    skills: [],
    skipped: [],
  });
});

test.each<[what: string, text: string, reason: RegExp]>([
  ["no front matter", "# A skill\n", /^no front matter/],
  ["an empty file", "", /^no front matter/],
  ["front matter without an end", "---\nname: x\n", /^no front matter/],
  ["front matter that is too long", `---\nname: x\n${"# c\n".repeat(5000)}---\n`, /longer than 8192 bytes/],
  ["YAML that is broken", "---\nname: [x\ndescription: y\n---\n", /cannot be understood: .+ at line 2/],
  ["a colon that YAML takes for a key", "---\nname: x\ndescription: use when: y\n---\n", /cannot be understood/],
  ["an alias bomb", `---\na: &a [x, x]\nb: &b [*a, *a]\ndescription: y\nname: "a b"\n---\n`, /the name 'a b'/],
  ["a name with a slash", head("../x"), /the name '..\/x'/],
  ["a name that is too long", head("x".repeat(65)), /at most 64/],
  ["a name with hidden characters", `---\nname: "a\\u202eb"\ndescription: d\n---\n`, /the name 'a\\u\{202e\}b'/],
  ["no description", "---\nname: x\n---\n", /no description/],
  ["a description that is no text", "---\nname: x\ndescription: [a]\n---\n", /no description/],
  ["YAML that is no map", "---\n- a\n---\n", /no description/],
])("%s is left out with a reason", async (_, text, reason) => {
  const { dir, folder } = open();
  put(dir, "x/SKILL.md", text);
  const found = await findSkills([folder]);
  expect(found.skills).toEqual([]);
  expect(reasons(found)).toEqual([expect.stringMatching(/^\.agents\/skills\/x\/SKILL\.md: /)]);
  expect(reasons(found)[0]?.replace(/^[^:]*: /, "")).toMatch(reason);
});

test("links that leave the folder or the project are refused, those within the project count", async () => {
  const { dir, folder, root } = open();
  put(root, "elsewhere/SKILL.md", head("outside"));
  put(root, "project/.env", head("secret"));
  put(root, "project/skills/inside/SKILL.md", head("inside"));
  symlinkSync(join(root, "elsewhere"), join(dir, "a"));
  mkdirSync(join(dir, "b"));
  symlinkSync(join(root, "project", ".env"), join(dir, "b", "SKILL.md"));
  symlinkSync(join("..", "..", "skills", "inside"), join(dir, "c"));
  mkdirSync(join(dir, "d"));
  symlinkSync(join(root, "nowhere"), join(dir, "d", "SKILL.md"));
  const found = await findSkills([folder]);
  expect(found.skills.map(({ name, folder: at }) => [name, at])).toEqual([
    ["inside", join(root, "project/skills/inside")],
  ]);
  expect(reasons(found)).toEqual([
    ".agents/skills/a/SKILL.md: a link that leads out of the skill's folder or of the project",
    ".agents/skills/b/SKILL.md: a link that leads out of the skill's folder or of the project",
  ]);
  // A person's own links count.
  const own = await findSkills([{ ...folder, origin: "user", within: null }]);
  expect(own.skills.map(({ name }) => name)).toEqual(["outside", "inside"]);
});

test("pipes, folders and huge files hold nothing up", async () => {
  const { dir, folder } = open();
  mkdirSync(join(dir, "a"));
  execFileSync("mkfifo", [join(dir, "a", "SKILL.md")]);
  mkdirSync(join(dir, "b", "SKILL.md"), { recursive: true });
  truncateSync(put(dir, "c/SKILL.md", head("c")), 2 ** 36);
  const found = await findSkills([folder]);
  expect(found.skills.map(({ name }) => name)).toEqual(["c"]);
  expect(reasons(found)).toEqual([
    ".agents/skills/a/SKILL.md: SKILL.md is no ordinary file, or unreadable",
    ".agents/skills/b/SKILL.md: SKILL.md is no ordinary file, or unreadable",
  ]);
});

test("the first of a name counts, whatever its letter case, and the other is told", async () => {
  const { dir, folder, root } = open();
  put(dir, "x/SKILL.md", head("deploy"));
  const claude = { ...folder, dir: join(root, "project/.claude/skills"), shown: ".claude/skills" };
  put(claude.dir, "y/SKILL.md", head("Deploy"));
  const found = await findSkills([folder, claude]);
  expect(found.skills.map(({ shown }) => shown)).toEqual([".agents/skills/x/SKILL.md"]);
  expect(reasons(found)).toEqual([
    ".claude/skills/y/SKILL.md: the skill 'Deploy' is in .agents/skills/x/SKILL.md already",
  ]);
  expect(firstOfEach([found, found]).skipped.length).toBe(3);
});

test("hidden characters of a description are made visible, and a long one is cut", async () => {
  const { dir, folder } = open();
  put(dir, "a/SKILL.md", `---\ndescription: "be\\u200bware\\u001b[2J"\n---\n`);
  put(dir, "b/SKILL.md", `---\ndescription: ${"长".repeat(2000)}\n---\n`);
  const { skills } = await findSkills([folder]);
  expect(skills[0]?.description).toBe("be\\u{200b}ware\\u{1b}[2J");
  expect(skills[1]?.description).toBe(`${"长".repeat(1023)}…`);
});

test("any text is a skill or has a reason", async () => {
  const text = fc.oneof(
    fc.string(),
    fc.string().map((yaml) => `---\n${yaml}\n---\nbody`),
    fc.string({ unit: "binary" }),
  );
  await fc.assert(
    fc.asyncProperty(text, async (content) => {
      const split = splitFrontMatter(content);
      if (!split) return;
      const parsed = await parseHead(split.head, "folder");
      if ("problem" in parsed) expect(parsed.problem(en.skills)).not.toBe("");
      else expect(parsed.name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
    }),
  );
});

test.each([
  ["name:\ndescription: x", "folder"],
  ['name: "  "\ndescription: x', "folder"],
  ["name: null\ndescription: x", "null"],
  ["name: 0123\ndescription: x", "0123"],
  ["name: 1e3\ndescription: 5", "1e3"],
  ["name: __proto__\ndescription: x", "__proto__"],
])("the front matter %j has the name %s", async (text, name) => {
  expect(await parseHead(text, "folder")).toMatchObject({ name });
});

test.each([
  ["name: [a]\ndescription: x", "the name '…' may only have"],
  ["name: {toString: 1, valueOf: 2}\ndescription: x", "the name '…' may only have"],
  ["a: &a [*a]\nname: *a\ndescription: x", "the name '…' may only have"],
  ["name: a\ndescription: [x]", "it has no description"],
  ["name: a\ndescription: {toString: 1}", "it has no description"],
  ["name: a\ndescription:", "it has no description"],
  ["__proto__: {name: p, description: x}", "it has no description"],
  [
    `a: &a [${"x,".repeat(20)}]\nb: &b [${"*a,".repeat(20)}]\nc: [${"*b,".repeat(20)}]\nname: a`,
    "cannot be understood",
  ],
  [`name: ${"[".repeat(3000)}`, "too many brackets"],
  [`name: a\n${"? ".repeat(2000)}x`, "too many brackets or question marks"],
  [`${"- ".repeat(3000)}x`, "cannot be understood"],
])("a front matter %j is passed over", async (text, reason) => {
  const parsed = await parseHead(text, "folder");
  expect("problem" in parsed && parsed.problem(en.skills)).toContain(reason);
});
