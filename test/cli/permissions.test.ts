import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { newPlace, type Place, put, runProgram } from "../helpers/program.ts";

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
