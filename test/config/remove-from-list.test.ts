import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { parse } from "jsonc-parser";
import { expect, test } from "vitest";
import { removeFromList } from "../../src/config/remove-from-list.ts";
import { en } from "../../src/text/en.ts";
import { tempDir } from "../helpers/temp-dir.ts";

const remove = async (text: string, dir: string, path: readonly string[] = ["list"]): Promise<string> => {
  const file = join(dir, "x.json");
  writeFileSync(file, text);
  await removeFromList(file, path, "R", en.config);
  return readFileSync(file, "utf8");
};

test.each([
  ['{"list": ["R"]}', '{"list": []}'],
  ['{"list": ["R", "a"]}', '{"list": ["a"]}'],
  ['{"list": ["a", "R"]}', '{"list": ["a"]}'],
  ['{"list": ["a", "R", "b"]}', '{"list": ["a", "b"]}'],
  ['{"list": ["R", "a", "R", "R"]}', '{"list": ["a"]}'],
  ['{"list": [ "a" , "R" ]}', '{"list": [ "a"  ]}'],
  [
    '{\n  "list": [\n    "a", // first\n    "R", // gone\n    "b"\n  ]\n}\n',
    '{\n  "list": [\n    "a", // first\n    "b"\n  ]\n}\n',
  ],
  [
    '{\n  "list": [\n    "a", // first\n    // about R\n    "R" // gone\n  ]\n}\n',
    '{\n  "list": [\n    "a" // first\n    // about R\n  ]\n}\n',
  ],
  ['{\r\n  "list": [\r\n    "R",\r\n    "b",\r\n  ],\r\n}\r\n', '{\r\n  "list": [\r\n    "b",\r\n  ],\r\n}\r\n'],
  ['{\n  "list": [\n    "R",\n  ],\n}\n', '{\n  "list": [\n  ],\n}\n'],
  ['{"list": ["a"], "other": ["R"]}', '{"list": ["a"], "other": ["R"]}'],
  ['{"list": "R"}', '{"list": "R"}'],
  ["{}", "{}"],
])("%j becomes %j", async (before, after) => {
  expect(await remove(before, tempDir())).toBe(after);
});

test("a list within another object is reached by its path", async () => {
  const text = '{"/w": {"list": ["R"]}, "/x": {"list": ["R"]}}';
  expect(await remove(text, tempDir(), ["/w", "list"])).toBe('{"/w": {"list": []}, "/x": {"list": ["R"]}}');
});

test("whatever stands around it, exactly it goes, and no comment but the one behind it", async () => {
  const dir = tempDir();
  const blank = fc.constantFrom("", " ", "\n", "\r\n", "\n    ", "/* c */", " // c,\n", '\n// "R",\n', "\t");
  const value = fc.constantFrom('"R"', '"a"', '"R,"', '"[R]"', "1");
  const element = fc.tuple(blank, value, blank).map((parts) => parts.join(""));
  await fc.assert(
    fc.asyncProperty(fc.array(element, { maxLength: 5 }), fc.boolean(), blank, async (elements, trailing, end) => {
      const text = `{${end}"list":${end}[${elements.join(",")}${trailing && elements.length > 0 ? "," : ""}${end}]${end}, "z": 1 /* z */}`;
      const after = await remove(text, dir);
      const before = parse(text, [], { allowTrailingComma: true });
      expect(parse(after, [], { allowTrailingComma: true })).toEqual({
        ...before,
        list: before.list.filter((one: unknown) => one !== "R"),
      });
      if (!before.list.includes("R")) expect(after).toBe(text);
      expect(after).toContain("/* z */");
    }),
    { numRuns: 400 },
  );
});
