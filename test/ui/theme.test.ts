import { stripVTControlCharacters } from "node:util";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { plainText, type Role, type Span, span } from "../../src/ui/line.ts";
import { type ColorLevel, colorLevel, createTheme, type ThemeName, themeForBackground } from "../../src/ui/theme.ts";

const names: readonly ThemeName[] = ["dark", "light", "high-contrast", "none"];
const levels: readonly ColorLevel[] = [0, 1, 2, 3];
const roles: readonly Role[] = [
  ...([
    "accent",
    "dim",
    "bold",
    "italic",
    "underline",
    "strike",
    "inverse",
    "heading",
    "code",
    "link",
    "quote",
  ] as const),
  ...(["success", "failure", "warning", "added", "removed", "addedWord", "removedWord"] as const),
  ...(["keyword", "string", "number", "comment", "name"] as const),
];

describe("createTheme", () => {
  test.each([
    ["dark", 1, span("ok", "success"), "\x1b[32mok\x1b[39m"],
    ["dark", 1, span("x", "dim"), "\x1b[2mx\x1b[22m"],
    ["dark", 1, span("x", "accent", "bold"), "\x1b[36m\x1b[1mx\x1b[22m\x1b[39m"],
    ["dark", 1, span("x", "added", "addedWord"), "\x1b[32m\x1b[1m\x1b[4mx\x1b[24m\x1b[22m\x1b[39m"],
    ["dark", 2, span("x", "accent"), "\x1b[38;5;110mx\x1b[39m"],
    ["dark", 3, span("x", "accent"), "\x1b[38;2;95;175;215mx\x1b[39m"],
    ["high-contrast", 3, span("x", "dim"), "x"],
    ["dark", 0, span("x", "failure"), "x"],
    ["none", 3, span("x", "failure"), "x"],
    ["light", 3, span("x"), "x"],
    ["light", 3, span("", "failure"), ""],
  ] as const)("%s at level %i paints %j", (name, level, painted, expected) => {
    expect(createTheme({ name, level }).paint([painted])).toBe(expected);
  });

  test("changed words have a background from 256 colours on, below that weight and a line", () => {
    for (const name of ["dark", "light"] as const)
      for (const role of ["addedWord", "removedWord"] as const) {
        expect(createTheme({ name, level: 1 }).paint([span("x", role)])).toBe("\x1b[1m\x1b[4mx\x1b[24m\x1b[22m");
        expect(createTheme({ name, level: 2 }).paint([span("x", role)])).toMatch(/\x1b\[48;5;\d+m/);
        expect(createTheme({ name, level: 3 }).paint([span("x", role)])).toMatch(/\x1b\[48;2;/);
      }
  });

  test("sixteen colours are the terminal's own, and high contrast is never dim", () => {
    for (const role of roles) {
      for (const name of ["dark", "light"] as const)
        expect(createTheme({ name, level: 1 }).paint([span("x", role)])).not.toMatch(/[34]8;/);
      expect(createTheme({ name: "high-contrast", level: 3 }).paint([span("x", role)])).not.toContain("\x1b[2m");
    }
  });

  test("whatever is painted keeps its text and leaves nothing open", () => {
    const spans: fc.Arbitrary<Span[]> = fc.array(
      fc
        .record({ text: fc.string({ unit: "grapheme" }), roles: fc.array(fc.constantFrom(...roles), { maxLength: 3 }) })
        .map(({ text, roles: some }) => span(text.replace(/[\x00-\x1f\x7f-\x9f]/g, ""), ...some)),
    );
    fc.assert(
      fc.property(fc.constantFrom(...names), fc.constantFrom(...levels), spans, (name, level, line) => {
        const painted = createTheme({ name, level }).paint(line);
        expect(stripVTControlCharacters(painted)).toBe(plainText(line));
        expect(openAfter(painted)).toEqual([]);
      }),
    );
  });
});

/** The attributes that a text leaves switched on. */
const openAfter = (text: string): string[] => {
  const open = new Set<string>();
  const closes: Record<string, string> = {
    "22": "weight",
    "23": "3",
    "24": "4",
    "27": "7",
    "29": "9",
    "39": "fg",
    "49": "bg",
  };
  for (const [, code = ""] of text.matchAll(/\x1b\[([\d;]*)m/g)) {
    const closed = closes[code];
    if (closed !== undefined) open.delete(closed);
    else if (/^(?:3[0-7]|9[0-7]|38;.*)$/.test(code)) open.add("fg");
    else if (code.startsWith("48;")) open.add("bg");
    else open.add(code === "1" || code === "2" ? "weight" : code);
  }
  return [...open];
};

describe("colorLevel", () => {
  test.each([
    [{ TERM: "xterm-256color" }, true, 2],
    [{ TERM: "xterm-256color" }, false, 0],
    [{ TERM: "xterm-256color", COLORTERM: "truecolor" }, true, 3],
    [{ TERM: "xterm", COLORTERM: "24bit" }, true, 3],
    [{ TERM: "xterm-kitty" }, true, 3],
    [{ TERM: "xterm-direct" }, true, 3],
    [{ TERM: "screen-256color" }, true, 2],
    [{ TERM: "linux" }, true, 1],
    [{ TERM: "xterm" }, true, 1],
    [{}, true, 1],
    [{ TERM: "dumb", COLORTERM: "truecolor" }, true, 0],
    [{ TERM: "xterm-256color", NO_COLOR: "1" }, true, 0],
    [{ TERM: "xterm-256color", NO_COLOR: "" }, true, 2],
    [{ NO_COLOR: "1", FORCE_COLOR: "3" }, true, 0],
    [{ FORCE_COLOR: "0", TERM: "xterm-256color" }, true, 0],
    [{ FORCE_COLOR: "false", TERM: "xterm-256color" }, true, 0],
    [{ FORCE_COLOR: "1", COLORTERM: "truecolor" }, true, 1],
    [{ FORCE_COLOR: "2" }, false, 2],
    [{ FORCE_COLOR: "3", TERM: "dumb" }, false, 3],
    [{ FORCE_COLOR: "true", TERM: "xterm-256color" }, false, 2],
    [{ FORCE_COLOR: "true", TERM: "dumb" }, false, 1],
    [{ FORCE_COLOR: "", TERM: "xterm-256color" }, false, 0],
  ])("%j, terminal: %s, is %i", (env, isTTY, expected) => {
    expect(colorLevel({ env, isTTY })).toBe(expected);
  });
});

describe("themeForBackground", () => {
  test.each([
    [{ red: 255, green: 255, blue: 255 }, {}, "light"],
    [{ red: 253, green: 246, blue: 227 }, {}, "light"],
    [{ red: 0, green: 43, blue: 54 }, {}, "dark"],
    [{ red: 0, green: 0, blue: 0 }, { COLORFGBG: "0;15" }, "dark"],
    [{ red: 0, green: 0, blue: 255 }, {}, "dark"],
    [{ red: 0, green: 255, blue: 0 }, {}, "light"],
    [undefined, {}, "dark"],
    [undefined, { COLORFGBG: "15;0" }, "dark"],
    [undefined, { COLORFGBG: "0;15" }, "light"],
    [undefined, { COLORFGBG: "0;default;7" }, "light"],
    [undefined, { COLORFGBG: "7;8" }, "dark"],
    [undefined, { COLORFGBG: "0;default" }, "dark"],
  ] as const)("%j with %j is %s", (background, env, expected) => {
    expect(themeForBackground(background, env)).toBe(expected);
  });
});
