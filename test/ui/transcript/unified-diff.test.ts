import { createTwoFilesPatch, structuredPatch } from "diff";
import fc from "fast-check";
import { expect, test } from "vitest";
import { parseUnifiedDiff } from "../../../src/ui/transcript/unified-diff.ts";

const line = fc.constantFrom("a", "b", "", "-- x", "++ y", "@@ -1 +1 @@", "\\ No newline", "--- a", " ");
const text = fc
  .tuple(fc.array(line, { maxLength: 30 }), fc.boolean())
  .map(([lines, ends]) => lines.join("\n") + (ends ? "\n" : ""));

test("a diff as text has the hunks that it was made of, whatever its lines look like", () => {
  fc.assert(
    fc.property(text, text, (before, after) => {
      const { hunks } = structuredPatch("a", "b", before, after);
      const expected = hunks.map(({ oldStart, oldLines, newStart, newLines, lines }) => ({
        oldStart,
        oldLines,
        newStart,
        newLines,
        lines: lines.filter((one) => !one.startsWith("\\")),
      }));
      const parsed = parseUnifiedDiff(createTwoFilesPatch("a", "b", before, after));
      expect(parsed.map(({ lines }) => lines)).toEqual(expected.map(({ lines }) => lines));
      // A side without lines begins at the line before, as the format has it.
      expect(parsed.map(({ oldLines, newLines }) => [oldLines, newLines])).toEqual(
        expected.map(({ oldLines, newLines }) => [oldLines, newLines]),
      );
    }),
  );
});

test.each([
  ["nothing", "", []],
  ["no hunks", "Binary files differ", []],
  [
    "a count that is left out is one",
    "--- a\n+++ b\n@@ -3 +3 @@ f()\n-x\n+y\n",
    [{ oldStart: 3, oldLines: 1, newStart: 3, newLines: 1, lines: ["-x", "+y"] }],
  ],
  [
    "a diff that is cut",
    "@@ -1,3 +1,3 @@\n-x",
    [{ oldStart: 1, oldLines: 3, newStart: 1, newLines: 3, lines: ["-x"] }],
  ],
])("%s", (_name, diff, hunks) => {
  expect(parseUnifiedDiff(diff)).toEqual(hunks);
});
