import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { SavedRule } from "../../src/cli/rule-book.ts";
import { removeSavedRule, savingRules } from "../../src/cli/save-rule.ts";
import type { Answer, PermissionQuestion, Question } from "../../src/schema/ask.ts";
import { en } from "../../src/text/en.ts";
import { tempDir } from "../helpers/temp-dir.ts";

const RULE = "bash(npm run build:*)";
const SIGNAL = new AbortController().signal;

const QUESTION: PermissionQuestion = {
  kind: "permission",
  toolCallId: "c1",
  name: "bash",
  arguments: '{"command":"npm run build"}',
  reason: "mode ask: running a command",
  by: "mode",
  offers: [
    { scope: "session", rule: RULE },
    { scope: "project", rule: RULE },
    { scope: "user", rule: RULE },
  ],
};

const open = (answer: Answer) => {
  const homeDir = tempDir();
  const harnessHome = join(homeDir, ".harness9");
  const files = { trust: join(harnessHome, "trust.json"), config: join(harnessHome, "config.json") };
  const asked: Question[] = [];
  const saved: SavedRule[] = [];
  const told: string[] = [];
  const options = {
    workDir: "/projects/app",
    homeDir,
    trustFile: files.trust,
    configFile: files.config,
    harnessHome,
    strings: en,
    onSaved: (rule: SavedRule) => void saved.push(rule),
    tell: (text: string) => void told.push(text),
  };
  const ask = savingRules(async (question) => {
    asked.push(question);
    return answer;
  }, options);
  return {
    options,
    ask: (question: Question = QUESTION) => ask(question, SIGNAL),
    harnessHome,
    files,
    asked,
    saved,
    told,
  };
};

test("a person sees where each rule would be saved", async () => {
  const { ask, asked } = open({ dismissed: true });
  expect(await ask()).toEqual({ dismissed: true });
  expect(asked).toEqual([
    {
      ...QUESTION,
      offers: [
        { scope: "session", rule: RULE },
        { scope: "project", rule: RULE, place: "~/.harness9/trust.json" },
        { scope: "user", rule: RULE, place: "~/.harness9/config.json" },
      ],
    },
  ]);
});

test("a rule for the folder stands with the folder's trust", async () => {
  const answer: Answer = { decision: "allow", scope: "project", rule: RULE };
  const { ask, files, saved, told } = open(answer);
  expect(await ask()).toEqual(answer);
  expect(JSON.parse(readFileSync(files.trust, "utf8"))).toEqual({ "/projects/app": { allow: [RULE], deny: [] } });
  expect(saved).toEqual([{ list: "allow", rule: RULE, origin: `${files.trust}:2`, scope: "project" }]);
  expect([existsSync(files.config), told]).toEqual([false, []]);
});

test("a rule for every folder joins those of the person's settings, comments kept", async () => {
  const { ask, harnessHome, files, saved } = open({ decision: "allow", scope: "user", rule: RULE });
  mkdirSync(harnessHome, { mode: 0o755 });
  writeFileSync(files.config, '{\n  // mine\n  "allow": [\n    "bash(ls)" // looks\n  ]\n}\n');
  await ask();
  const text = readFileSync(files.config, "utf8");
  expect(text).toBe(`{\n  // mine\n  "allow": [\n    "bash(ls)",\n    "${RULE}" // looks\n  ]\n}\n`);
  expect(saved).toEqual([{ list: "allow", rule: RULE, origin: `${files.config}:3`, scope: "user" }]);
  expect([statSync(files.config).mode & 0o777, statSync(harnessHome).mode & 0o777]).toEqual([0o600, 0o700]);
  await ask();
  expect(readFileSync(files.config, "utf8")).toBe(text);
});

test("a person's no is kept as a rule that denies", async () => {
  const { ask, files, saved } = open({ decision: "reject", scope: "user", rule: RULE });
  await ask();
  expect(JSON.parse(readFileSync(files.config, "utf8"))).toEqual({ deny: [RULE] });
  expect(saved).toEqual([{ list: "deny", rule: RULE, origin: `${files.config}:2`, scope: "user" }]);
});

test.each<Answer>([
  { decision: "allow", scope: "once" },
  { decision: "allow", scope: "project", rule: "bash" },
  { decision: "reject", scope: "once", feedback: "no" },
  { text: "p" },
])("nothing is saved for %j", async (answer) => {
  const { ask, harnessHome, saved } = open(answer);
  expect(await ask()).toEqual(answer);
  expect([existsSync(harnessHome), saved]).toEqual([false, []]);
});

test("an answer for the session is told, and stands in no file", async () => {
  const answer: Answer = { decision: "allow", scope: "session", rule: RULE };
  const { ask, harnessHome, saved } = open(answer);
  expect(await ask()).toEqual(answer);
  expect(saved).toEqual([{ list: "allow", rule: RULE, origin: "session", scope: "session" }]);
  expect(existsSync(harnessHome)).toBe(false);
});

describe("a rule that is taken back", () => {
  const TEXT = `{
  // mine
  "theme": "dark", // nights
  "allow": [
    "bash(a)", // first
    "${RULE}",
    "bash(b)" // last
  ],
  "deny": ["${RULE}"]
}
`;
  const remove = async (text: string, scope: "project" | "user", rule = RULE) => {
    const { files, harnessHome, options } = open({ dismissed: true });
    mkdirSync(harnessHome);
    const file = scope === "project" ? files.trust : files.config;
    writeFileSync(file, text);
    await removeSavedRule({ list: "allow", rule, origin: `${file}:4`, saved: scope }, options);
    return readFileSync(file, "utf8");
  };

  test("goes out of the person's settings, comments and order kept", async () => {
    expect(await remove(TEXT, "user")).toBe(TEXT.replace(`    "${RULE}",\n`, ""));
    expect(JSON.parse((await remove(TEXT, "user", "bash(b)")).replace(/\/\/.*/g, ""))).toEqual({
      theme: "dark",
      allow: ["bash(a)", RULE],
      deny: [RULE],
    });
    expect(JSON.parse(await remove(`{"allow": ["${RULE}"]}`, "user"))).toEqual({ allow: [] });
    expect(JSON.parse(await remove(`{"allow": ["${RULE}", "x", "${RULE}"]}`, "user"))).toEqual({ allow: ["x"] });
  });

  test("goes out of the folder's record, and no other", async () => {
    const records = (own: readonly string[]) =>
      `${JSON.stringify({ "/projects/other": { allow: [RULE] }, "/projects/app": { trusted: true, digest: "d", allow: own, deny: [RULE] } }, null, 2)}\n`;
    expect(JSON.parse(await remove(records(["x", RULE, "y"]), "project"))).toEqual(JSON.parse(records(["x", "y"])));
  });

  test("that somebody has taken out meanwhile, or whose file is gone, is no mistake", async () => {
    expect(await remove('{"allow": ["x"]}', "user")).toBe('{"allow": ["x"]}');
    expect(await remove("{}", "user")).toBe("{}");
    const { files, options, harnessHome } = open({ dismissed: true });
    await removeSavedRule({ list: "allow", rule: RULE, origin: files.config, saved: "user" }, options);
    expect(existsSync(harnessHome)).toBe(false);
  });

  test("a file that has become unreadable is not written over", async () => {
    await expect(remove("{", "user")).rejects.toThrow("JSON syntax error");
  });
});

test("nothing is saved for a guarded call, which offers nothing", async () => {
  const { ask, harnessHome } = open({ decision: "allow", scope: "project", rule: RULE });
  await ask({ ...QUESTION, by: "guard", offers: [] });
  expect(existsSync(harnessHome)).toBe(false);
});

test.each(["project", "user"] as const)(
  "a %s rule that cannot be written says so and counts for the session",
  async (scope) => {
    const { ask, harnessHome, files, saved, told } = open({ decision: "allow", scope, rule: RULE });
    // A file where the folder should be: also the superuser cannot write below it.
    writeFileSync(harnessHome, "");
    expect(await ask()).toEqual({ decision: "allow", scope: "session", rule: RULE });
    expect(saved).toEqual([{ list: "allow", rule: RULE, origin: "session", scope: "session" }]);
    expect(told).toEqual([expect.stringContaining(scope === "user" ? files.config : files.trust)]);
    expect(told[0]).toContain(`could not save the rule ${RULE}`);
  },
);

test("a settings file that has become unreadable is not written over", async () => {
  const { ask, harnessHome, files, told } = open({ decision: "allow", scope: "user", rule: RULE });
  mkdirSync(harnessHome);
  for (const text of ["{", '{"allow": "bash"}']) {
    writeFileSync(files.config, text);
    chmodSync(files.config, 0o600);
    expect(await ask()).toMatchObject({ scope: "session" });
    expect(readFileSync(files.config, "utf8")).toBe(text);
  }
  expect(told).toHaveLength(2);
});

test("other questions go through as they are", async () => {
  const { ask, asked } = open({ choice: "a" });
  const question: Question = { kind: "choice", title: "?", options: [{ id: "a", label: "A" }] };
  expect(await ask(question)).toEqual({ choice: "a" });
  expect(asked).toEqual([question]);
});
