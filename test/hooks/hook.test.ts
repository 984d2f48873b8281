import fc from "fast-check";
import { expect, test } from "vitest";
import { failureBlocks, firstLine, type HookEvent, isForTool, timeoutMsOf } from "../../src/hooks/hook.ts";

const matches = (match: string | undefined, name: string) =>
  isForTool({ on: "tool.pre", match, command: "true" }, name);

test.each([
  [undefined, "bash", true],
  ["bash", "bash", true],
  ["bash", "bash2", false],
  ["bash", "Bash", false],
  ["*", "", true],
  ["*", "edit_file", true],
  ["*_file", "edit_file", true],
  ["*_file", "edit_files", false],
  ["mcp__*", "mcp__github__create", true],
  ["mcp__*", "mcp_", false],
  ["mcp__*__create", "mcp__github__create", true],
  ["mcp__*__create", "mcp__create", false],
  ["a*a", "a", false],
  ["a*a", "aa", true],
  ["a*b*b", "ab", false],
  ["**", "x", true],
])("%s matches %s: %s", (match, name, expected) => {
  expect(matches(match, name)).toBe(expected);
});

test("a pattern matches what the same regular expression does", () => {
  const text = fc.string({ unit: fc.constantFrom("a", "b", "_"), maxLength: 8 });
  const pattern = fc.string({ unit: fc.constantFrom("a", "b", "_", "*"), maxLength: 6 });
  fc.assert(
    fc.property(pattern, text, (match, name) => {
      expect(matches(match, name)).toBe(new RegExp(`^${match.replaceAll("*", ".*")}$`).test(name));
    }),
  );
});

test("a failure before a tool is a no, elsewhere it is none, and the setting decides otherwise", () => {
  const on = (event: HookEvent, onFailure?: "block" | "allow") => failureBlocks({ on: event, command: "x", onFailure });
  expect([on("tool.pre"), on("tool.pre", "allow"), on("prompt.submit"), on("prompt.submit", "block")]).toEqual([
    true,
    false,
    false,
    true,
  ]);
});

test("a hook has a minute, at the end of a session five seconds, or what the setting says", () => {
  const command = "x";
  expect([
    timeoutMsOf({ on: "stop", command }),
    timeoutMsOf({ on: "session.end", command }),
    timeoutMsOf({ on: "session.end", command, timeout: 10_000 }),
  ]).toEqual([60_000, 5000, 10_000]);
});

test("a command is known by its first line, at most 80 characters of it", () => {
  expect([firstLine(" a \n"), firstLine("a\nb"), firstLine("x".repeat(81))]).toEqual(["a", "a…", `${"x".repeat(80)}…`]);
});
