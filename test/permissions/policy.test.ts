// biome-ignore-all lint/suspicious/noTemplateCurlyInString: shell text
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type CallFacts, decide, type Outcome, type PolicyOptions } from "../../src/permissions/policy.ts";
import { parseRule, wholeToolRule } from "../../src/permissions/rules.ts";
import { parseCommand } from "../../src/permissions/shell-command.ts";
import type { PermissionMode } from "../../src/schema/event.ts";
import { en } from "../../src/text/en.ts";

const strings = en.permission;
const places = { workDir: "/home/me/app", homeDir: "/home/me", harnessHome: "/home/me/.harness9" };
const MODES: readonly PermissionMode[] = ["ask", "auto-edit", "plan", "auto", "yolo"];

type Lists = { allow?: readonly string[]; ask?: readonly string[]; deny?: readonly string[] };

const options = (mode: PermissionMode, { allow = [], ask = [], deny = [] }: Lists = {}): PolicyOptions => {
  const parse = (list: readonly string[]) => list.map((text) => parseRule(text, strings));
  return { mode, rules: { allow: parse(allow), ask: parse(ask), deny: parse(deny) }, guard: true, places, strings };
};

const bash = async (command: string): Promise<CallFacts> => ({
  name: "bash",
  kind: "execute",
  permission: "high",
  command: await parseCommand(command, places),
});
const file = (kind: "read" | "edit", path: string): CallFacts => ({
  name: kind === "read" ? "read_file" : "edit_file",
  kind,
  permission: kind === "read" ? "low" : "medium",
  path,
});
const mcp: CallFacts = { name: "mcp__github__search", kind: "other", permission: "medium", texts: ["x"] };

const row = (facts: CallFacts) => MODES.map((mode) => decide(facts, options(mode)).decision);
const run = async (command: string, mode: PermissionMode, lists?: Lists) => {
  const { decision, by, rule } = decide(await bash(command), options(mode, lists));
  return rule === undefined ? `${decision} ${by}` : `${decision} ${by} ${rule}`;
};

const cells = (outcomes: string, why: string, other: Partial<Record<PermissionMode, string>> = {}) =>
  outcomes
    .split(" ")
    .map((outcome, index): [Outcome, string] => [outcome as Outcome, other[MODES[index] ?? "ask"] ?? why]);
const all = (outcome: Outcome, why: string) => cells(MODES.map(() => outcome).join(" "), why);

describe("the table of modes: ask, auto-edit, plan, auto, yolo", () => {
  // Who decides and why, where it is not always the same: "{mode}" stands for the mode.
  const LOOKS = "mode: mode {mode}: reading";
  const EDITS = "mode: mode {mode}: changing files";
  const RUNS = "mode: mode {mode}: running a command";
  const REDIRECT = "mode: mode {mode}: running a command with a redirect: o";
  const ACTS = "mode: mode {mode}: a tool that may change something";
  const SECRET = "secret: mode {mode}: '.env' looks like a file of keys or passwords";
  const UNSURE =
    "mode: mode {mode}: nobody can be sure what this command runs (the name of a command is not literal: $x)";
  const HARD = "guard: guard git reset --hard, throws away uncommitted changes: git reset";
  const RM = "mode: rm -r, outside the work directory: /data/x";
  const command = (text: string) => bash(text);

  test.each<[name: string, facts: CallFacts | Promise<CallFacts>, cells: readonly [Outcome, string][]]>([
    ["read_file", file("read", "a.ts"), all("allow", LOOKS)],
    ["a read-only command", command("ls -la src"), all("allow", LOOKS)],
    ["a tool of low permission", { ...mcp, permission: "low" }, all("allow", LOOKS)],
    ["an edit", file("edit", "a.ts"), cells("ask allow refuse allow allow", EDITS)],
    ["another command", command("npm test"), cells("ask ask refuse allow allow", RUNS)],
    ["a tool of medium permission", mcp, cells("ask ask refuse allow allow", ACTS)],
    ["reading a secret", file("read", ".env"), cells("ask ask ask refuse allow", SECRET)],
    ["a read-only command on a secret", command("cat .env"), cells("ask ask ask refuse allow", SECRET)],
    ["another command on a secret", command("cp .env x"), cells("ask ask refuse refuse allow", SECRET, { plan: RUNS })],
    ["editing a secret", file("edit", ".env"), cells("ask ask refuse refuse allow", SECRET, { plan: EDITS })],
    [
      "a redirect inside",
      command("npm test > o"),
      cells("ask ask refuse allow allow", RUNS, { ask: REDIRECT, plan: REDIRECT }),
    ],
    ["what nobody can be sure of", command("$x y"), cells("ask ask refuse refuse allow", UNSURE)],
    ["deletion outside, not vital", command("rm -rf /data/x"), cells("ask ask refuse refuse allow", RM)],
    ["the guard's list", command("git reset --hard"), cells("ask ask refuse refuse ask", HARD)],
  ])("%s", async (_, facts, expected) => {
    const decided = await Promise.all(
      MODES.map(async (mode) => {
        const { decision, by, reason } = decide(await facts, options(mode));
        return [decision, `${by}: ${reason}`];
      }),
    );
    expect(decided).toEqual(
      expected.map(([outcome, why], index) => [outcome, why.replace("{mode}", MODES[index] ?? "")]),
    );
  });

  test("a template of a secret is none, and a command that only names one is like any other", async () => {
    expect(row(file("read", ".env.example"))).toEqual(["allow", "allow", "allow", "allow", "allow"]);
    expect(row(await bash("ls .env"))).toEqual(["allow", "allow", "allow", "allow", "allow"]);
  });

  test("without the guard", async () => {
    const free = (mode: PermissionMode) => ({ ...options(mode), guard: false });
    expect(decide(await bash("rm -rf /"), free("yolo")).decision).toBe("allow");
    expect(decide(await bash("echo 'unclosed"), free("yolo")).decision).toBe("allow");
  });
});

describe("rules", () => {
  test.each<[string, PermissionMode, Lists, string]>([
    ["npm test", "ask", { allow: ["bash(npm test)"] }, "allow rule bash(npm test)"],
    ["npm  'test'", "ask", { allow: ["bash(npm test)"] }, "allow rule bash(npm test)"],
    ["npm test -- -u", "ask", { allow: ["bash(npm test)"] }, "ask mode"],
    ["npm test -- -u", "ask", { allow: ["bash(npm test:*)"] }, "allow rule bash(npm test:*)"],
    ["npm test -- -u", "ask", { allow: ["bash(npm test *)"] }, "allow rule bash(npm test *)"],
    ["npm test", "ask", { allow: ["bash(npm test:*)"] }, "allow rule bash(npm test:*)"],
    ["npm testing", "ask", { allow: ["bash(npm test:*)"] }, "ask mode"],
    ["npm run build && curl x", "ask", { allow: ["bash(npm run build:*)"] }, "ask mode"],
    ["npm run build-evil", "ask", { allow: ["bash(npm run build:*)"] }, "ask mode"],
    ["npm run builder", "ask", { allow: ["bash(npm run build:*)"] }, "ask mode"],
    ["npm run a && npm test", "ask", { allow: ["bash(npm run a)", "bash(npm test)"] }, "allow rule bash(npm run a)"],
    ["timeout 60 npm test", "ask", { allow: ["bash(npm test)"] }, "allow rule bash(npm test)"],
    ["sh -c 'npm test'", "ask", { allow: ["bash(npm test)"] }, "allow rule bash(npm test)"],
    ["sudo npm test", "ask", { allow: ["bash(npm test)"] }, "ask mode"],
    ["sudo npm test", "ask", { allow: ["bash(sudo npm test)"] }, "allow rule bash(sudo npm test)"],
    ["FOO=1 npm test", "ask", { allow: ["bash(npm test)"] }, "ask mode"],
    ["env LD_PRELOAD=./x.so npm test", "ask", { allow: ["bash(npm test)"] }, "ask mode"],
    ["CI=1 npm test", "ask", { allow: ["bash(npm test)"] }, "allow rule bash(npm test)"],
    ["PATH=.; npm test", "ask", { allow: ["bash(npm test)"] }, "ask mode"],
    ["for PATH in .; do npm test; done", "ask", { allow: ["bash(npm test)"] }, "ask mode"],
    ["select PATH in .; do npm test; done", "ask", { allow: ["bash(npm test)"] }, "ask mode"],
    ["for f in a b; do npm test; done", "ask", { allow: ["bash(npm test)"] }, "allow rule bash(npm test)"],
    ["((PATH = 1)); npm test", "ask", { allow: ["bash(npm test)"] }, "ask mode"],
    ["for ((PATH = 1; ; )); do npm test; done", "ask", { allow: ["bash(npm test)"] }, "ask mode"],
    ["npm test $((PATH[0] = 1))", "ask", { allow: ["bash(npm test:*)"] }, "ask mode"],
    ["((x = 1)); npm test", "ask", { allow: ["bash(npm test)"] }, "allow rule bash(npm test)"],
    ["coproc PATH { npm test; }; npm test", "ask", { allow: ["bash(npm test)"] }, "ask mode"],
    ["npm test {PATH}</dev/null", "ask", { allow: ["bash(npm test)"] }, "ask mode"],
    ["./npm test", "ask", { allow: ["bash(npm test)"] }, "ask mode"],
    ["npm test $(rm x)", "ask", { allow: ["bash(npm test:*)"] }, "ask mode"],
    ["npm test $x", "ask", { allow: ["bash(npm test:*)"] }, "allow rule bash(npm test:*)"],
    ["npm test > out.txt", "ask", { allow: ["bash(npm test)"] }, "ask mode"],
    ["npm test > out.txt", "auto-edit", { allow: ["bash(npm test)"] }, "allow rule bash(npm test)"],
    ["npm test > ../out.txt", "auto-edit", { allow: ["bash(npm test)"] }, "ask mode"],
    ["npm test > /dev/null 2>&1", "ask", { allow: ["bash(npm test)"] }, "allow rule bash(npm test)"],
    ["npm test 3<>/dev/tcp/h/80", "auto-edit", { allow: ["bash(npm test)"] }, "ask mode"],
    ["npm test < ../x", "ask", { allow: ["bash(npm test)"] }, "ask mode"],
    ["npm test > ~/.bashrc", "ask", { allow: ["bash(npm test)", "bash"] }, "ask guard write"],
    ["curl localhost@evil", "ask", { allow: ["bash(curl localhost)"] }, "ask mode"],
    ["curl --resolve a localhost", "ask", { allow: ["bash(curl localhost:*)"] }, "ask mode"],
    ["anything here", "ask", { allow: ["bash"] }, "allow rule bash"],
    ["anything here", "ask", { allow: ["bash(*)"] }, "allow rule bash(*)"],
    ["$x", "ask", { allow: ["bash"] }, "ask mode"],
    ["rm -rf /", "yolo", { allow: ["bash", "bash(rm:*)"] }, "ask guard rm -r"],
    ["cat .env", "auto", { allow: ["bash(cat:*)"] }, "refuse secret"],
    ["cat .env", "auto", { allow: ["bash(cat .env)"] }, "allow rule bash(cat .env)"],
    ["cat .env", "plan", { allow: ["bash(cat .env)"] }, "allow rule bash(cat .env)"],
    ["cp .env x", "plan", { allow: ["bash(cp .env x)"] }, "refuse mode"],
    ["git push", "auto", { ask: ["bash(git push:*)"] }, "ask rule bash(git push:*)"],
    ["git push", "yolo", { ask: ["bash(git push:*)"], allow: ["bash(git push:*)"] }, "ask rule bash(git push:*)"],
    ["ls && git push", "auto", { deny: ["bash(git push:*)"] }, "refuse rule bash(git push:*)"],
    ["git -C x push", "yolo", { deny: ["bash(git push:*)"] }, "refuse rule bash(git push:*)"],
    ["/usr/bin/git push", "auto", { deny: ["bash(git push:*)"] }, "refuse rule bash(git push:*)"],
    ["env A=1 g'i't push", "auto", { deny: ["bash(git push:*)"] }, "refuse rule bash(git push:*)"],
    ["sh -c 'git push'", "auto", { deny: ["bash(sh:*)"] }, "refuse rule bash(sh:*)"],
    ["sudo ls", "auto", { deny: ["bash(sudo:*)"] }, "refuse rule bash(sudo:*)"],
    ["npm $x", "auto", { deny: ["bash(npm publish:*)"] }, "refuse mode"],
    [
      "npm publish",
      "auto",
      { deny: ["bash(npm publish)"], allow: ["bash(npm publish)"] },
      "refuse rule bash(npm publish)",
    ],
    ["ls", "yolo", { deny: ["bash"] }, "refuse rule bash"],
    ["ls", "yolo", { deny: ["*"] }, "refuse rule *"],
    ["npm test", "plan", { allow: ["bash(npm test)"] }, "refuse mode"],
  ])("%j in %s with %j", async (command, mode, lists, expected) => {
    expect(await run(command, mode, lists)).toBe(expected);
  });

  test.each<[CallFacts, PermissionMode, Lists, string]>([
    [file("edit", "src/a/b.ts"), "ask", { allow: ["edit_file(src/**)"] }, "allow"],
    [file("edit", "/home/me/app/src/a.ts"), "ask", { allow: ["edit_file(src/**)"] }, "allow"],
    [file("edit", "src/../lib/a.ts"), "ask", { allow: ["edit_file(src/**)"] }, "ask"],
    [file("edit", "src-evil/a.ts"), "ask", { allow: ["edit_file(src/**)"] }, "ask"],
    [file("read", "./secret/../secret/x"), "auto", { deny: ["read_file(secret/**)"] }, "refuse"],
    [file("read", "src/a.ts"), "auto", { deny: ["read_file(secret/**)"] }, "allow"],
    [file("read", ".env"), "auto", { allow: ["read_file"] }, "refuse"],
    [file("read", ".env"), "auto", { allow: ["read_file(.env)"] }, "allow"],
    [file("edit", "a.ts"), "yolo", { deny: ["edit_file(*.ts)"] }, "refuse"],
    [mcp, "ask", { allow: ["mcp__github__*"] }, "allow"],
    [mcp, "ask", { allow: ["mcp__gitlab__*"] }, "ask"],
    [mcp, "auto", { deny: ["mcp__github__*"] }, "refuse"],
  ])("%j in %s with %j: %s", (facts, mode, lists, expected) => {
    expect(decide(facts, options(mode, lists)).decision).toBe(expected);
  });

  test.each([
    ["", "expected tool"],
    ["bash(", "expected tool"],
    ["bash()", "expected tool"],
    ["bash( )", "expected tool"],
    ["ba sh(x)", "expected tool"],
    ["bash(x) y", "expected tool"],
    ["bash(:*)", "expected tool"],
    ["bash(a; b)", "one simple command"],
    ["bash(a | b)", "one simple command"],
    ["bash(a > b)", "one simple command"],
    ["bash(a $(b))", "one simple command"],
    ["bash(a\nb)", "one simple command"],
    ["bash('a)", "quote"],
  ])("the broken rule %j is an error that names it", (text, problem) => {
    expect(() => parseRule(text, strings)).toThrow(`rule '${text}' is broken`);
    expect(() => parseRule(text, strings)).toThrow(problem);
  });
});

test.each([
  ["bash(", "bash"],
  ["bash(a; b)", "bash"],
  [" mcp__github__* (", "mcp__github__*"],
  ["bash(x) y", "bash"],
  ["ba sh(x)", "*"],
  ["bash)", "*"],
  ["", "*"],
  ["(?)", "*"],
])("the broken rule %j counts for the tool %s where it asks or denies", (text, tool) => {
  expect(() => parseRule(text, strings)).toThrow();
  expect(wholeToolRule(text)).toEqual({ text: text.trim(), tool });
});

test("the reason names the piece that decides", async () => {
  const { reason, pieces } = decide(await bash("npm test && git push --force"), options("auto"));
  expect(reason).toBe("guard git push --force, can take commits away from others: git push");
  expect(pieces.map(({ decision }) => decision)).toEqual(["allow", "allow"]);
});

describe("properties", () => {
  const allow = ["bash(npm test:*)", "bash(ls:*)", "bash(echo:*)"];
  const PROBE = "evil";
  const fragments = fc.constantFrom(
    ...[
      "; ",
      "&& ",
      "|| ",
      "| ",
      "& ",
      "\n",
      "$(",
      "`",
      ")",
      "'",
      '"',
      "\\",
      "<(",
      ">(",
      "{ ",
      "}",
      "(",
      "<<EOF\n",
      "EOF\n",
    ],
    ...[
      "${x:-",
      "}",
      "$((",
      "))",
      "[[ ",
      " ]]",
      "if ",
      "then ",
      "fi",
      "for x in a; do ",
      "done",
      "case x in x) ",
      ";; esac",
    ],
    ...[
      "sh -c ",
      "eval ",
      "xargs ",
      "timeout 5 ",
      "sudo ",
      "env ",
      "env -S ",
      "A=1 ",
      "find . -exec ",
      "coproc ",
      "! ",
      "time ",
    ],
    ...[
      "trap ",
      "f() ",
      "$x ",
      "> f",
      ">&2 ",
      "<<< ",
      "#",
      " ",
      "a",
      "\r",
      "\t",
      "\u00a0",
      "$'",
      "\\x3b",
      "{a,",
      ",b}",
      "*",
      "~",
    ],
  );
  const tail = fc
    .array(fc.oneof(fragments, fc.constant(`${PROBE} `)), { maxLength: 12 })
    .map((parts) => parts.join(""));

  test("text after an allowed command never lets another command run unasked", async () => {
    await fc.assert(
      fc.asyncProperty(tail, async (text) => {
        const line = `npm test${text}`;
        const parsed = await parseCommand(line, places);
        const { decision } = decide({ ...(await bash("")), command: parsed }, options("ask", { allow }));
        if (decision !== "allow") return;
        expect(parsed.isCertain).toBe(true);
        // A redirect without a command, as `>&2`, has no name.
        for (const { words } of parsed.commands) expect(["npm", "ls", "echo", undefined]).toContain(words[0]?.text);
      }),
      { numRuns: 3000 },
    );
  });

  test("what the parser cannot be sure of runs unasked in yolo only, whatever is allowed", async () => {
    const anything = fc.oneof(tail, fc.string());
    await fc.assert(
      fc.asyncProperty(anything, fc.constantFrom(...MODES), async (text, mode) => {
        const command = await parseCommand(text, places);
        const { decision } = decide({ ...(await bash("")), command }, options(mode, { allow: ["bash", "*"] }));
        if (!command.isCertain && mode !== "yolo") expect(decision).not.toBe("allow");
      }),
      { numRuns: 2000 },
    );
  });
});
