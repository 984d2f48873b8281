import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { modelServer, openAIAnswer } from "../helpers/model-server.ts";
import { bash, newPlace, openAIEnv, type Place, put, runProgram, toolCalls } from "../helpers/program.ts";

const json = async (args: readonly string[], place: Place): Promise<unknown> => {
  const { exitCode, stdout, stderr } = await runProgram(args, { place });
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  return JSON.parse(stdout);
};

const userRules = (place: Place): string =>
  put(place.home, ".harness9/config.json", '{\n  "deny": ["bash(git push:*)"],\n  "allow": ["bash(npm test:*)"]\n}\n');

test("explain names the parts of a command, the rule that decides and where it stands", async () => {
  const place = newPlace();
  const file = userRules(place);
  const command = "cd src && npm test -- -u | tail -5; git push";
  expect(await json(["permissions", "explain", "--mode", "ask", "--json", "--", command], place)).toEqual({
    decision: "deny",
    by: "rule",
    rule: "bash(git push:*)",
    origin: `${file}:2`,
    pieces: [
      { command: "cd src", decision: "allow", reason: "mode ask: reading" },
      { command: "npm test -- -u", decision: "allow", reason: "rule allow bash(npm test:*)" },
      { command: "tail -5", decision: "allow", reason: "mode ask: reading" },
      { command: "git push", decision: "deny", reason: "rule deny bash(git push:*)" },
    ],
  });
});

test("without a mode explain answers for each, and runs nothing", async () => {
  const place = newPlace();
  const touch = { command: "touch x", reason: expect.stringContaining("running a command") };
  const outcome = (decision: string) => ({ decision, by: "mode", pieces: [{ ...touch, decision }] });
  expect(await json(["permissions", "explain", "--json", "--", "touch x"], place)).toEqual({
    ask: outcome("ask"),
    "auto-edit": outcome("ask"),
    plan: outcome("deny"),
    auto: outcome("allow"),
    yolo: outcome("allow"),
  });
  expect(existsSync(join(place.workDir, "x"))).toBe(false);
});

test("explain tells the guard and what cannot be parsed", async () => {
  const place = newPlace();
  const explain = (command: string, mode: string) =>
    json(["permissions", "explain", "--mode", mode, "--json", "--", command], place);
  expect(await explain("rm -rf /", "yolo")).toEqual({
    decision: "ask",
    by: "guard",
    rule: "rm -r",
    pieces: [{ command: "rm -rf /", decision: "allow", reason: "mode yolo: running a command" }],
  });
  expect(await explain("X=1 $Y > 'a b'", "auto")).toMatchObject({
    decision: "deny",
    by: "mode",
    pieces: [{ command: "X=… $Y >'a b'", decision: "allow" }],
  });
});

test("git is read-only in a trusted folder, and asked elsewhere", async () => {
  const place = newPlace();
  const explain = (...flags: readonly string[]) =>
    json([...flags, "permissions", "explain", "--mode", "ask", "--json", "--", "git status -sb"], place);
  expect(await explain()).toMatchObject({ decision: "ask" });
  expect(await explain("--trust")).toMatchObject({ decision: "allow" });
});

test("for people it is a line for each mode, and one for each part; nothing in it drives the terminal", async () => {
  const place = newPlace();
  const file = userRules(place);
  const ended = await runProgram(["permissions", "explain", "--mode", "plan", "--", "ls \u001b[2J && git push"], {
    place,
  });
  expect(ended).toEqual({
    exitCode: 0,
    stdout: [
      "plan: deny (rule deny bash(git push:*))",
      `  bash(git push:*)  ${file}:2`,
      "  allow  ls \\u{1b}[2J  mode plan: reading",
      "  deny   git push      rule deny bash(git push:*)",
      "",
    ].join("\n"),
    stderr: "",
  });
});

test("list shows the rules of all layers, the strictest list first", async () => {
  const place = newPlace();
  expect((await runProgram(["permissions"], { place })).stdout).toBe("no rules\n");
  const file = userRules(place);
  const project = put(place.workDir, ".harness9/settings.json", '{ "ask": ["bash(make)"] }');
  expect(await json(["--allow", "edit_file(src/**)", "permissions", "list", "--json"], place)).toEqual([
    { list: "deny", rule: "bash(git push:*)", origin: `${file}:2` },
    { list: "ask", rule: "bash(make)", origin: `${project}:1` },
    { list: "allow", rule: "edit_file(src/**)", origin: "flag" },
    { list: "allow", rule: "bash(npm test:*)", origin: `${file}:3` },
  ]);
  expect((await runProgram(["permissions", "list"], { place })).stdout).toBe(
    [
      `deny   bash(git push:*)  ${file}:2`,
      `ask    bash(make)        ${project}:1`,
      `allow  bash(npm test:*)  ${file}:3`,
      "",
    ].join("\n"),
  );
});

test("wrong usage and broken rules are said", async () => {
  const place = newPlace();
  const rows = [
    [["permissions", "explain"], 2, "command"],
    [["permissions", "explain", "--mode", "careful", "ls"], 2, "careful"],
    [["permissions", "nonsense"], 2, "permissions"],
    [["--deny", "bash(", "permissions", "explain", "ls"], 52, "bash("],
  ] as const;
  for (const [args, exitCode, says] of rows)
    expect(await runProgram(args, { place })).toEqual({ exitCode, stdout: "", stderr: expect.stringContaining(says) });
});

const BROKEN = `{
  "deny": ["bash(rm"],
  "ask": ["edit_file(", "(?)"],
  "allow": ["bash('touch)", "bash(make)"]
}
`;

test("a broken rule in a file is named, with its place, and counts for its whole tool or for all, never as allow", async () => {
  const place = newPlace();
  const file = put(place.home, ".harness9/config.json", BROKEN);
  const explain = (command: string, mode: string) =>
    runProgram(["permissions", "explain", "--mode", mode, "--json", "--", command], { place });
  const { exitCode, stdout, stderr } = await explain("ls", "yolo");
  expect([exitCode, JSON.parse(stdout)]).toMatchObject([
    0,
    { decision: "deny", by: "rule", rule: "bash(rm", origin: `${file}:2` },
  ]);
  for (const line of [
    `${file}:2: deny: rule 'bash(rm' is broken: expected tool or tool(pattern), as in bash(npm test:*); it counts as deny bash`,
    `${file}:3: ask: rule 'edit_file(' is broken: expected tool or tool(pattern), as in bash(npm test:*); it counts as ask edit_file`,
    `${file}:3: ask: rule '(?)' is broken: expected tool or tool(pattern), as in bash(npm test:*); it counts as ask *`,
    `${file}:4: allow: rule 'bash('touch)' is broken: a quote is not closed; it allows nothing`,
  ])
    expect(stderr).toContain(line);
  put(place.home, ".harness9/config.json", BROKEN.replace('"bash(rm"', ""));
  expect(JSON.parse((await explain("make", "yolo")).stdout)).toMatchObject({
    decision: "ask",
    by: "rule",
    rule: "(?)",
  });
  put(place.home, ".harness9/config.json", '{ "allow": ["bash(\'touch)", "bash(make)"] }');
  expect(JSON.parse((await explain("touch x", "ask")).stdout)).toMatchObject({ decision: "ask", by: "mode" });
  expect(JSON.parse((await explain("make", "ask")).stdout)).toMatchObject({ decision: "allow", rule: "bash(make)" });
});

test("with a broken rule that denies, run works and refuses that tool", async () => {
  const place = newPlace();
  put(place.home, ".harness9/config.json", BROKEN.replace('"(?)"', ""));
  const server = await modelServer([toolCalls([bash("ls"), ["read_file", { path: "a" }]]), openAIAnswer("Done.")]);
  const { stdout, stderr } = await runProgram(["run", "go"], { place, env: openAIEnv(server) });
  expect([stdout, stderr]).toEqual(["Done.\n", expect.stringContaining("it counts as deny bash")]);
  expect(JSON.stringify(server.requests[1]?.body).split("denied by policy").length - 1).toBe(1);
});

test("the guard says what harm a command does", async () => {
  const place = newPlace();
  const ended = await runProgram(["permissions", "explain", "--mode", "yolo", "--", "git reset --hard"], { place });
  expect(ended.stdout.split("\n")[0]).toBe(
    "yolo: ask (guard git reset --hard, throws away uncommitted changes: git reset)",
  );
});
