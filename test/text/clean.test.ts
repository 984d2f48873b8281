import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cleanOutput, createCleaner, stripControls, visibleControls } from "../../src/text/clean.ts";

// Text that is rich in what matters here; short pieces meet each other in all orders.
const terminalText = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        ..."\x1b[]PX^_k\\;?0m \x07\x00\b\r\n\t\x7f\x80\x85\x90\x98\x9b\x9c\x9d\x9e\x9fa你😀",
        "\x1b[31m",
        "\x1b]0;t\x07",
        "\r\n",
        "😀".slice(0, 1),
      ),
      fc.string({ unit: "grapheme", maxLength: 4 }),
    ),
    { maxLength: 60 },
  )
  .map((parts) => parts.join(""));

describe("stripControls", () => {
  test.each([
    ["red \x1b[1;31mword\x1b[0m", "red word"],
    ["\x1b[2J\x1b[H\x1b[?25lclear", "clear"],
    ["\x1b[38:2::255:0:0mcolon\x1b[m", "colon"],
    ["\x1b]0;title\x07after", "after"],
    ["\x1b]0;title\x1b\\after", "after"],
    ["\x1b]52;c;aGk=\x07after", "after"],
    ["\x1b]8;;https://example.com\x1b\\link\x1b]8;;\x1b\\", "link"],
    ["\x1bPq#0;2;0\x1b\\after", "after"],
    ["\x1bXsos\x1b\\a\x1b^pm\x1b\\b\x1b_apc\x1b\\c\x1bktitle\x1b\\d", "abcd"],
    ["\x9b31mred\x9b0m \x9d0;title\x9cafter \x90dcs\x9cend", "red after end"],
    ["before\x1bPnever ended\nnext line", "beforenever ended\nnext line"],
    ["before\x1b]0;never ended\nnext line\x07", "before0;never ended\nnext line"],
    ["\x1b]0;one\x1b]0;two\x07after", "0;oneafter"],
    ["a\x1b[31", "a"],
    ["a\x1b[31你", "a你"],
    ["a\x1b[3\x1b[0m1m", "a1m"],
    ["\x1b(Btext\x1b7\x1b=\x1bc", "text"],
    ["a\x1b\nb\x1b", "a\nb"],
    ["bell\x07 nul\0 back\b del\x7f c1\x85", "bell nul back del c1"],
    ["tab\tand\nnewline\r\nstay", "tab\tand\nnewline\nstay"],
    ["你好 😀 مرحبا e\u0301", "你好 😀 مرحبا e\u0301"],
    ["", ""],
  ])("%j becomes %j", (text, expected) => {
    expect(stripControls(text)).toBe(expected);
  });

  test("whatever comes in, no control character but newline and tab comes out, and a second time changes nothing", () => {
    fc.assert(
      fc.property(terminalText, (text) => {
        const stripped = stripControls(text);
        expect(stripped).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/);
        expect(stripControls(stripped)).toBe(stripped);
      }),
      { numRuns: 2000 },
    );
  });
});

describe("cleanOutput", () => {
  test.each([
    ["10%\r50%\r100%\n", "100%\n"],
    ["10%\r50%\r100%", "100%"],
    ["10%\r50%\r", "50%"],
    ["a\r\nb\r\n", "a\nb\n"],
    ["a\r\r\nb", "a\nb"],
    ["\r\n\r\n", "\n\n"],
    ["working\r\x1b[Kdone\n", "done\n"],
    ["working\r\x1b[2K\n", "working\n"],
    ["first\rsecond\nthird\rfourth\n", "second\nfourth\n"],
    ["x\bx bo\bo", "x bo"],
    ["_\bu_\bn", "un"],
    ["abc\b\b\bxyz", "xyz"],
    ["abc\b\bX", "aXc"],
    ["\b\ba", "a"],
    ["|\b/\b-\b\\", "\\"],
    ["你\b好", "好"],
    ["\x1b[32m✓\x1b[0m ok\x07", "✓ ok"],
  ])("%j becomes %j", (text, expected) => {
    expect(cleanOutput(text)).toBe(expected);
  });

  test("what stripControls leaves, it leaves too", () => {
    fc.assert(
      fc.property(terminalText, (text) => {
        const cleaned = cleanOutput(text);
        expect(cleaned).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/);
        expect(cleanOutput(cleaned)).toBe(cleaned);
        const stripped = stripControls(text);
        expect(cleanOutput(stripped)).toBe(stripped);
      }),
      { numRuns: 2000 },
    );
  });

  test.each([
    ["unterminated strings", "\x1b]"],
    ["8-bit introducers", "\x9d"],
    ["lone escapes", "\x1b"],
    ["carriage returns", "\r"],
    ["rewritten lines", "\rab"],
    ["backspaces", "a\b"],
    ["unfinished CSI", "\x1b["],
  ])("takes linear time on many %s", (_, piece) => {
    const time = (count: number) => {
      const text = piece.repeat(count);
      const begin = performance.now();
      cleanOutput(text);
      stripControls(text);
      return performance.now() - begin;
    };
    // Quadratic time would need minutes for a million.
    expect(time(1_000_000)).toBeLessThan(5000);
  });

  test("one string sequence of megabytes without an end is no burden", () => {
    const text = `\x1b]${"x".repeat(8_000_000)}`;
    expect(cleanOutput(text)).toBe("x".repeat(8_000_000));
  });
});

describe("createCleaner", () => {
  const inPieces = (text: string, ends: readonly number[]): string => {
    const cleaner = createCleaner();
    let output = "";
    let from = 0;
    for (const end of [...ends].sort((a, b) => a - b)) {
      output += cleaner.push(text.slice(from, end));
      from = end;
    }
    return output + cleaner.push(text.slice(from)) + cleaner.flush();
  };

  test("however the text is cut, the outcome is that of the whole", () => {
    fc.assert(
      fc.property(terminalText, fc.array(fc.nat(100), { maxLength: 10 }), (text, ends) => {
        expect(
          inPieces(
            text,
            ends.map((end) => Math.min(end, text.length)),
          ),
        ).toBe(cleanOutput(text));
      }),
      { numRuns: 2000 },
    );
  });

  test("the unfinished line is shown in its present state", () => {
    const cleaner = createCleaner();
    expect(cleaner.push("done\n10%\r5")).toBe("done\n");
    expect(cleaner.unfinished()).toBe("5");
    expect(cleaner.push("0%\x1b[3")).toBe("");
    expect(cleaner.unfinished()).toBe("50%");
    expect(cleaner.push("1m!\n")).toBe("50%!\n");
    expect(cleaner.flush()).toBe("");
  });

  test("a line without end is settled in parts, and no part is cut within a character or a sequence", () => {
    const line = "😀\x1b[31m你\x1b[0m".repeat(50_000);
    const cleaner = createCleaner();
    const parts: string[] = [];
    for (let from = 0; from < line.length; from += 997) {
      parts.push(cleaner.push(line.slice(from, from + 997)));
      expect(cleaner.unfinished().length).toBeLessThan(70_000);
    }
    expect(parts.filter((part) => part !== "").length).toBeGreaterThan(2);
    for (const part of parts) expect(Buffer.from(part).toString()).toBe(part);
    expect(parts.join("") + cleaner.flush()).toBe("😀你".repeat(50_000));
  });

  test("a progress bar that never ends its line keeps only its last state", () => {
    const cleaner = createCleaner();
    let settled = "";
    for (let count = 0; count <= 50_000; count += 1) settled += cleaner.push(`\r${count} of 50000`);
    expect(settled).toBe("");
    expect(cleaner.flush()).toBe("50000 of 50000");
  });
});

describe("visibleControls", () => {
  test.each([
    ["plain 你好 😀 ⚠\ufe0f e\u0301 مرحبا", "plain 你好 😀 ⚠\ufe0f e\u0301 مرحبا"],
    ["a\nb\tc\rd", "a\\u{a}b\\u{9}c\\u{d}d"],
    ["\x1b[2J\x07\x9b", "\\u{1b}[2J\\u{7}\\u{9b}"],
    ["\u202eevil\u2066\u2069\u202c", "\\u{202e}evil\\u{2066}\\u{2069}\\u{202c}"],
    ["zero\u200b\u200d\u200f\u2060\ufeff", "zero\\u{200b}\\u{200d}\\u{200f}\\u{2060}\\u{feff}"],
    ["\u{e0041}\u{e007f}\u{e0100}\u{e01ef}\ufe00", "\\u{e0041}\\u{e007f}\\u{e0100}\\u{e01ef}\\u{fe00}"],
    [
      "\u3164\u115f\uffa0\u2800\u00ad\u034f\u061c\u180e",
      "\\u{3164}\\u{115f}\\u{ffa0}\\u{2800}\\u{ad}\\u{34f}\\u{61c}\\u{180e}",
    ],
    ["\u2028\u2029\ufff9", "\\u{2028}\\u{2029}\\u{fff9}"],
    ["half \ud83d", "half \\u{d83d}"],
  ])("%j becomes %j", (text, expected) => {
    expect(visibleControls(text)).toBe(expected);
  });

  test("keeps the characters that it is told to keep", () => {
    expect(visibleControls("a\n\tb\r", "\n\t")).toBe("a\n\tb\\u{d}");
    expect(visibleControls("a\n\tb\r", "\n")).toBe("a\n\\u{9}b\\u{d}");
  });
});
