import { expect, test } from "vitest";
import { pathMatches, segmentMatches } from "../../src/permissions/glob.ts";

test.each([
  ["*", "abc", true],
  ["a*c", "abbc", true],
  ["a*c", "abb", false],
  ["a?c", "abc", true],
  ["", "", true],
  ["*", "", true],
  ["a", "", false],
  ["mcp__github__*", "mcp__github__create_issue", true],
  ["mcp__github__*", "mcp__gitlab__x", false],
])("segment %s against %s: %s", (pattern, text, expected) => expect(segmentMatches(pattern, text)).toBe(expected));

test.each([
  ["src/**", "src/a.ts", true],
  ["src/**", "src/a/b/c.ts", true],
  ["src/**", "src-evil/a.ts", false],
  ["src/**", "lib/src/a.ts", false],
  ["src/*.ts", "src/a.ts", true],
  ["src/*.ts", "src/a/b.ts", false],
  ["**/*.md", "a/b/c.md", true],
  ["**/*.md", "c.md", true],
  ["a/**/z", "a/z", true],
  ["a/**/z", "a/b/c/z", true],
  ["a/**/z", "a/b/c", false],
])("path %s against %s: %s", (pattern, path, expected) => expect(pathMatches(pattern, path)).toBe(expected));

test("a pattern of many stars takes no time to fail", () => {
  expect(segmentMatches(`${"*a".repeat(2000)}b`, "a".repeat(5000))).toBe(false);
});
