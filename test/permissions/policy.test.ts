// biome-ignore-all lint/suspicious/noTemplateCurlyInString: shell text
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type CallFacts, decide, type PolicyOptions } from "../../src/permissions/policy.ts";
import { parseRule } from "../../src/permissions/rules.ts";
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

describe("the table of modes: ask, auto-edit, plan, auto, yolo", () => {
  test("reading", () => expect(row(file("read", "a.ts"))).toEqual(["allow", "allow", "allow", "allow", "allow"]));
  test("editing", () => expect(row(file("edit", "a.ts"))).toEqual(["ask", "allow", "refuse", "allow", "allow"]));
  test("a command", async () =>
    expect(row(await bash("npm test"))).toEqual(["ask", "ask", "refuse", "allow", "allow"]));
  test("a tool of medium permission", () => expect(row(mcp)).toEqual(["ask", "ask", "refuse", "allow", "allow"]));
  test("a tool of low permission", () =>
    expect(row({ ...mcp, permission: "low" })).toEqual(["allow", "allow", "allow", "allow", "allow"]));
  test("reading a secret", () => expect(row(file("read", ".env"))).toEqual(["ask", "ask", "ask", "refuse", "allow"]));
  test("editing a secret", () =>
    expect(row(file("edit", "x/../.env"))).toEqual(["ask", "ask", "refuse", "refuse", "allow"]));
  test("a command with a secret", async () =>
    expect(row(await bash("cat .env"))).toEqual(["ask", "ask", "refuse", "refuse", "allow"]));
  test("what the parser cannot be sure of", async () =>
    expect(row(await bash("$x y"))).toEqual(["ask", "ask", "refuse", "refuse", "allow"]));
  test("the guard's list", async () =>
    expect(row(await bash("rm -rf /"))).toEqual(["ask", "ask", "refuse", "refuse", "ask"]));
  test("recursive deletion outside, not vital", async () =>
    expect(row(await bash("rm -rf /data/x"))).toEqual(["ask", "ask", "refuse", "refuse", "allow"]));
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
    ["cat .env", "auto", { allow: ["bash(cat .env)"] }, "allow mode"],
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

test("the reason names the piece that decides", async () => {
  const { reason, pieces } = decide(await bash("npm test && git push --force"), options("auto"));
  expect(reason).toBe("guard git push --force: git push");
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
