import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isIgnored, parseIgnoreRules } from "../../src/snapshots/ignore-rules.ts";
import { tempDir } from "../helpers/temp-dir.ts";

const CASES: readonly (readonly [rules: string, path: string, expected: boolean])[] = [
  ["*.log", "a/b.log", true],
  ["*.log\n!keep.log", "keep.log", false],
  ["!keep.log\n*.log", "keep.log", true],
  ["/build", "build", true],
  ["/build", "a/build", false],
  ["a/b", "x/a/b", false],
  ["build/", "build", false],
  ["build/", "build/", true],
  ["**/logs", "a/b/logs", true],
  ["**/logs", "logs", true],
  ["logs/**", "logs/a/b", true],
  ["a/**/b", "a/b", true],
  ["a/**/b", "a/x/y/b", true],
  ["a/**b", "a/x/b", false],
  ["a**/b", "ax/y/b", true],
  ["x/*", "x/a/b", false],
  ["#no", "#no", false],
  ["\\#yes", "#yes", true],
  ["\\!yes", "!yes", true],
  ["end ", "end", true],
  ["end\\ ", "end ", true],
  ["cr\r", "cr", true],
  ["[a-c]x", "bx", true],
  ["[!a-c]x", "bx", false],
  ["[^a-c]x", "dx", true],
  ["[[:digit:]]", "7", true],
  ["[]]", "]", true],
  ["[a", "[a", false],
  ["a?c", "abc", true],
  ["*a*b*c", "xaybzc", true],
  ["*a*b*c", "xaybz", false],
  ["*ab*ab", "abab", true],
  ["\\", "\\", false],
  ["a\\*", "a*", true],
  ["a\\*", "ab", false],
  ["constructor", "__proto__", false],
  ["__proto__", "__proto__", true],
  ["*1*0", "100", true],
];

describe("rules of a .gitignore", () => {
  it.each(CASES)("%j says of %j: %j", (rules, path, expected) => {
    expect(ignores(rules, path)).toBe(expected);
  });

  it("are read as git reads them", () => {
    const repository = tempDir();
    execFileSync("git", ["init", "--quiet"], { cwd: repository });
    mkdirSync(join(repository, "sub"));
    const piece = fc.constantFrom(
      ...[
        "a",
        "b",
        "c",
        "ab",
        "/",
        "*",
        "**",
        "?",
        "[ab]",
        "[!a]",
        "[a-c]",
        "[[:alpha:]]",
        "\\*",
        "\\a",
        " ",
        "!",
        "#",
        "-",
        "]",
        "[",
        ".",
      ],
      ...["**/", "/**", "\\ ", "^", "1", "\\/", "[]-a]", "[\\]]"],
    );
    const line = fc.array(piece, { minLength: 1, maxLength: 6 }).map((pieces) => pieces.join(""));
    const name = fc.array(fc.constantFrom("a", "b", "c", "1", "*", "[", "]", "-", "!", "#", " ", ".x"), {
      minLength: 1,
      maxLength: 4,
    });
    const path = fc.array(
      name.map((letters) => letters.join("")),
      { minLength: 1, maxLength: 3 },
    );
    fc.assert(
      fc.property(
        fc.array(line, { minLength: 1, maxLength: 4 }),
        fc.array(path, { minLength: 8, maxLength: 12 }),
        (lines, paths) => {
          writeFileSync(join(repository, ".gitignore"), `${lines.join("\n")}\n`);
          // `sub` holds nothing that git would look at; only the rules count.
          const asked = [...new Set(paths.map((names) => names.join("/")))].filter((each) => !each.includes("//"));
          expect([lines, asked.filter((each) => ignoresBelow(lines.join("\n"), each))]).toEqual([
            lines,
            gitIgnores(repository, asked),
          ]);
        },
      ),
      { numRuns: 150 },
    );
  });

  it("take no longer for a pattern with many stars", () => {
    const pattern = `${"*a".repeat(40)}b`;
    expect(ignores(pattern, "a".repeat(200))).toBe(false);
    expect(ignores(pattern, `${"a".repeat(200)}b`)).toBe(true);
  });
});

/** One path by itself; a folder with a final slash. */
const ignores = (rules: string, path: string): boolean => {
  const isFolder = path.endsWith("/");
  const plain = isFolder ? path.slice(0, -1) : path;
  const name = plain.slice(plain.lastIndexOf("/") + 1);
  return isIgnored({ path: plain, name, isFolder }, [parseIgnoreRules("", rules)]);
};

/** With the folders that it is in. */
const ignoresBelow = (rules: string, path: string): boolean => {
  const names = path.split("/");
  return names.some((_, index) =>
    ignores(rules, `${names.slice(0, index + 1).join("/")}${index + 1 < names.length ? "/" : ""}`),
  );
};

const gitIgnores = (repository: string, paths: readonly string[]): string[] => {
  try {
    const output = execFileSync("git", ["check-ignore", "-z", "--stdin", "--no-index"], {
      cwd: repository,
      input: `${paths.join("\0")}\0`,
    });
    return output.toString().split("\0").slice(0, -1);
  } catch {
    // Exit code 1: none.
    return [];
  }
};
