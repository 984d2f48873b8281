import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createKeyReader, type KeyInput, type KeyReader } from "../../../src/ui/terminal/keys.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const reader = (): { readonly keys: KeyReader; readonly inputs: KeyInput[] } => {
  const inputs: KeyInput[] = [];
  return { keys: createKeyReader({ onKey: (input) => inputs.push(input) }), inputs };
};

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

const inputsOf = (...chunks: readonly (string | Uint8Array)[]): KeyInput[] => {
  const { keys, inputs } = reader();
  for (const chunk of chunks) keys.push(typeof chunk === "string" ? bytes(chunk) : chunk);
  return inputs;
};

/** Short: keys as their chord, text in quotes, a paste in brackets. */
const short = (inputs: readonly KeyInput[]): string =>
  inputs
    .map((input) => {
      switch (input.type) {
        case "key":
          return input.chord;
        case "text":
          return JSON.stringify(input.text);
        case "paste":
          return `[${JSON.stringify(input.text)}]`;
        default:
          return input.reply.kind === "other"
            ? "reply"
            : `background ${input.reply.red} ${input.reply.green} ${input.reply.blue}`;
      }
    })
    .join(" ");

describe("keys", () => {
  test.each([
    ["\r", "enter"],
    ["\n", "ctrl+j"],
    ["\t", "tab"],
    ["\x7f", "backspace"],
    ["\b", "backspace"],
    ["\0", "ctrl+space"],
    ["\x01\x03\x04\x1a", "ctrl+a ctrl+c ctrl+d ctrl+z"],
    ["\x1c\x1d\x1e\x1f", "ctrl+\\ ctrl+] ctrl+^ ctrl+_"],
    ["\x1ba\x1bB\x1b.\x1b ", "alt+a alt+shift+b alt+. alt+space"],
    ["\x1b\r\x1b\x7f\x1b\x01\x1b\t", "alt+enter alt+backspace ctrl+alt+a alt+tab"],
    ["\x1bé\x1b你", "alt+é alt+你"],
    ["\x1b[A\x1b[B\x1b[C\x1b[D", "up down right left"],
    ["\x1bOA\x1bOB\x1bOC\x1bOD\x1bOH\x1bOF", "up down right left home end"],
    ["\x1b[H\x1b[F\x1b[1~\x1b[4~\x1b[7~\x1b[8~", "home end home end home end"],
    ["\x1b[2~\x1b[3~\x1b[5~\x1b[6~", "insert delete pageup pagedown"],
    ["\x1b[Z\x1b[1;2Z\x1b[9;2u\x1b[27;2;9~", "shift+tab shift+tab shift+tab shift+tab"],
    ["\x1b[1;2A\x1b[1;3A\x1b[1;5C\x1b[1;6D\x1b[1;8H", "shift+up alt+up ctrl+right ctrl+shift+left ctrl+alt+shift+home"],
    ["\x1b[1;9D", "alt+left"],
    ["\x1b[3;5~\x1b[5;2~", "ctrl+delete shift+pageup"],
    ["\x1bOP\x1b[11~\x1b[[A\x1b[15~\x1b[[E\x1b[24~\x1b[1;2P\x1bO5P", "f1 f1 f1 f5 f5 f12 shift+f1 ctrl+f1"],
    ["\x1b[a\x1bOd\x1b[3$\x1b[3^\x1b[3@", "shift+up ctrl+left shift+delete ctrl+delete ctrl+shift+delete"],
    ["\x1b\x1b[A\x1b\x1bOC\x1b\x1b[3~", "alt+up alt+right alt+delete"],
    ["\x1bOM\x1bOj\x1bOp\x1bOy", 'enter "*" "0" "9"'],
    [
      "\x1b[13;2u\x1b[13;3u\x1b[13;5u\x1b[27;2;13~\x1b[27;5;13~",
      "shift+enter alt+enter ctrl+enter shift+enter ctrl+enter",
    ],
    ["\x1b[27u\x1b[27;2u\x1b[127;5u\x1b[9u\x1b[32;5u", "escape shift+escape ctrl+backspace tab ctrl+space"],
    ["\x1b[97;5u\x1b[97;6u\x1b[27;6;90~\x1b[122;6u", "ctrl+a ctrl+shift+a ctrl+shift+z ctrl+shift+z"],
    ["\x1b[99;5:1u\x1b[99;5:2u\x1b[99;5:3u\x1b[1;1:3A\x1b[3;1:3~", "ctrl+c ctrl+c"],
    ["\x1b[45:95;6u\x1b[27;6;95~\x1b[47;5u\x1b[91;5u", "ctrl+_ ctrl+_ ctrl+/ escape"],
    ["\x1b[1089::99;5u", "ctrl+c"],
    ["\x1b[97u\x1b[97:65;2u\x1b[97;2u\x1b[228;;228u\x1b[0;;20320:22909u", '"a" "A" "A" "ä" "你好"'],
    ["\x1b[27;2;65~\x1b[27;5;46~", '"A" ctrl+.'],
    ["\x1b[57414u\x1b[57399u\x1b[57417;5u\x1b[57441;2u\x1b[57358u\x1b[97;9u", 'enter "0" ctrl+left'],
    ["\x1b[97;65u\x1b[99;69u\x1b[97;129u", '"a" ctrl+c "a"'],
  ])("%j", (input, expected) => {
    expect(short(inputsOf(input))).toBe(expected);
  });
});

describe("text", () => {
  test.each([
    ["hello", '"hello"'],
    ["x\ry", '"x" enter "y"'],
    ["fix the failing test\r", '"fix the failing test" enter'],
    ["y\rn\r", '"y" enter "n" enter'],
    ["a\tb", '"a" tab "b"'],
    ["你好👨‍👩‍👧é🇩🇪", '"你好👨‍👩‍👧é🇩🇪"'],
    ["ab\x1b[Dcd", '"ab" left "cd"'],
    ["a\x85\x9b31mb\x84c", '"a" "b" "c"'],
  ])("%j", (input, expected) => {
    expect(short(inputsOf(input))).toBe(expected);
  });

  test("a character that is cut between reads is whole", () => {
    const [first, ...rest] = bytes("你");
    expect(inputsOf(Uint8Array.of(first ?? 0), Uint8Array.from(rest))).toEqual([{ type: "text", text: "你" }]);
  });

  test("bytes that are no UTF-8 become replacement characters, and the reader goes on", () => {
    expect(short(inputsOf(Uint8Array.of(0x61, 0xff, 0xfe, 0x62), Uint8Array.of(0xe4, 0x0d), "ok\x1b[A"))).toBe(
      '"a��b" "�" enter "ok" up',
    );
  });

  test("half a character at the end comes with flush", () => {
    const { keys, inputs } = reader();
    keys.push(Uint8Array.of(0xe4, 0xbd));
    keys.flush();
    expect(inputs).toEqual([{ type: "text", text: "�" }]);
  });
});

describe("what is no key and no text", () => {
  test.each([
    ["\x1b[<0;10;20M\x1b[<0;10;20m\x1b[M !!\x1b[32;10;20M", ""],
    ["\x1b[I\x1b[O", ""],
    ["\x1b[E\x1b[99~\x1b[1;2;3;4X\x1b[ q\x1b[65;30;97;1;0;1_\x1b[=1;1u", "reply"],
    ["\x1b[201~", ""],
    ["a\x1b[12\x1b[Ab\x1b[1;你", '"a" up "b" "你"'],
    ["\x1b]11;rgb:ffff/8080/0000\x1b\\", "background 255 128 0"],
    ["\x1b]11;rgb:1e/1e/2e\x07x", 'background 30 30 46 "x"'],
    ["\x9d11;#ffffff\x9c", "background 255 255 255"],
    ["\x1b]11;rgba:0000/0000/0000/ffff\x07", "background 0 0 0"],
    ["\x1b]10;rgb:ffff/ffff/ffff\x07\x1b]52;c;aGk=\x07", "reply reply"],
    [
      "\x1b[?62;4c\x1b[>0;276;0c\x1b[24;80R\x1b[?1u\x1b[?2026;2$y\x1b[4;2$y\x1b[0n\x1b[8;24;80t",
      "reply ".repeat(8).trim(),
    ],
    ["\x1bP>|xterm(390)\x1b\\\x1bP1+r5463=1\x1b\\\x1b_Gi=1;OK\x1b\\", "reply reply reply"],
    ["\x1b]11;never ended\rtext", 'enter "text"'],
    ["\x1b]0;one\x1b[Atext", 'up "text"'],
  ])("%j", (input, expected) => {
    expect(short(inputsOf(input))).toBe(expected);
  });

  test("a number that is none throws nothing", () => {
    expect(inputsOf("\x1b[1<2;3>u\x1b[99999999999;1u\x1b[;;u\x1b[27;;~\x1b[::;::;::u")).toEqual([]);
  });

  test("a string without an end holds at most 4096 characters and half a second", () => {
    const { keys, inputs } = reader();
    keys.push(bytes(`\x1b]${"x".repeat(5000)}`));
    expect(inputs).toEqual([{ type: "text", text: "x".repeat(904) }]);
    keys.push(bytes("\x1b]11;rgb"));
    vi.advanceTimersByTime(500);
    keys.push(bytes("a"));
    expect(short(inputs.slice(1))).toBe('"a"');
  });
});

describe("escape", () => {
  test("is a key when nothing follows", () => {
    const { keys, inputs } = reader();
    keys.push(bytes("\x1b"));
    vi.advanceTimersByTime(29);
    expect(inputs).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(short(inputs)).toBe("escape");
  });

  test("twice is two keys, and never Alt", () => {
    const { keys, inputs } = reader();
    keys.push(bytes("\x1b\x1b"));
    vi.advanceTimersByTime(30);
    keys.push(bytes("\x1b\x1bx"));
    expect(short(inputs)).toBe("escape escape escape alt+x");
  });

  test.each([
    ["\x1b[", "alt+["],
    ["\x1bO", "alt+shift+o"],
    ["\x1b]", "alt+]"],
    ["\x1b_", "alt+_"],
  ])("the key that begins like a sequence is one when nothing follows: %j", (input, expected) => {
    const { keys, inputs } = reader();
    keys.push(bytes(input));
    vi.advanceTimersByTime(30);
    expect(short(inputs)).toBe(expected);
  });

  test("a sequence that is cut in its middle waits longer than a key, and is swallowed without its end", () => {
    const { keys, inputs } = reader();
    keys.push(bytes("\x1b[1;"));
    vi.advanceTimersByTime(400);
    keys.push(bytes("5A\x1b[1;"));
    vi.advanceTimersByTime(500);
    keys.push(bytes("x"));
    expect(short(inputs)).toBe('ctrl+up "x"');
  });

  test("flush and dispose leave nothing behind", () => {
    const { keys, inputs } = reader();
    keys.push(bytes("\x1b"));
    keys.flush();
    keys.push(bytes("\x1b"));
    keys.dispose();
    expect(vi.getTimerCount()).toBe(0);
    expect(short(inputs)).toBe("escape");
  });
});

describe("paste", () => {
  test.each([
    ["three lines are one input", ["\x1b[200~a\rb\rc\x1b[201~"], '["a\\rb\\rc"]'],
    ["its end may be cut anywhere", ["\x1b[2", "00~a\x1b[20", "1~b"], '["a"] "b"'],
    ["sequences in it are no keys", ["\x1b[200~a\x1b[Ab\x9b201~c\x1b[201~"], '["a\\u001b[Ab\x9b201~c"]'],
    ["keys around it keep their places", ["x\x1b[200~p\x1b[201~\r\x1b[200~q\x1b[201~"], '"x" ["p"] enter ["q"]'],
    ["an empty one says nothing", ["\x1b[200~\x1b[201~x"], '"x"'],
    ["Escape before one stays a key", ["\x1b\x1b[200~p\x1b[201~"], 'escape ["p"]'],
  ])("%s", (_, chunks, expected) => {
    expect(short(inputsOf(...chunks))).toBe(expected);
  });

  test("without an end it comes after half a second, and what follows is typed text", () => {
    const { keys, inputs } = reader();
    keys.push(bytes("\x1b[200~lost?\r\n\x1b[20"));
    vi.advanceTimersByTime(499);
    expect(inputs).toEqual([]);
    vi.advanceTimersByTime(1);
    keys.push(bytes("x"));
    expect(inputs).toEqual([
      { type: "paste", text: "lost?\r\n\x1b[20" },
      { type: "text", text: "x" },
    ]);
  });

  test("flush delivers what is there", () => {
    const { keys, inputs } = reader();
    keys.push(bytes("\x1b[200~half"));
    keys.flush();
    expect(inputs).toEqual([{ type: "paste", text: "half" }]);
  });

  test("ten megabytes in small reads, and thousands of small pastes in one", () => {
    const { keys, inputs } = reader();
    const piece = bytes("0123456789abcdef".repeat(256));
    keys.push(bytes("\x1b[200~"));
    for (let sent = 0; sent < 10_000_000; sent += piece.length) keys.push(piece);
    keys.push(bytes("\x1b[201~"));
    expect(inputs.map((input) => input.type === "paste" && input.text.length)).toEqual([10_002_432]);
    keys.push(bytes("\x1b[200~p\x1b[201~".repeat(20_000)));
    expect(inputs).toHaveLength(20_001);
  });

  test.each([
    ["two lines of a sentence", "const a = 1;\rconst b = 2;", true],
    ["three short lines", "a\rb\rc", true],
    ["with a newline at the end", "a\r\nb\r\nc\r\n", true],
    ["with tabs", "if (x) {\r\treturn;\r}\r", true],
    ["one line that ends", "git commit --amend --no-edit\r", false],
  ])("without brackets: %s", (_, text, pasted) => {
    expect(inputsOf(text)[0]?.type).toBe(pasted ? "paste" : "text");
  });

  test("without brackets and in several reads no newline submits", () => {
    const { keys, inputs } = reader();
    keys.push(bytes("x".repeat(1023)));
    keys.push(bytes("end\r"));
    keys.push(bytes("last\r"));
    vi.advanceTimersByTime(30);
    keys.push(bytes("\r"));
    expect(inputs.map(({ type }) => type)).toEqual(["text", "paste", "paste", "key"]);
  });
});

const piece = fc.oneof(
  fc.constantFrom(
    "\x1b[A",
    "\x1bOA",
    "\x1b[1;5C",
    "\x1b[13;2u",
    "\x1b[27;2;13~",
    "\x1b\x1b[A",
    "\x1bx",
    "\x1b\r",
    "\x1b[[A",
    "\x1b[3$",
    "\x1b[M !!",
    "\x1b[<0;1;1M",
    "\x1b]11;rgb:ff/00/7f\x1b\\",
    "\x1bP>|x\x1b\\",
    "\x1b[?2026;2$y",
    "\x1b[200~a\rb\x1b[2\r你\x1b[201~",
    "\x1b[12\x07",
    "\x1b]x\x01",
    "\x9b1;5A",
    "\x85",
    "\r\x01",
    "\n\x01",
    "\x7f",
    "\t",
  ),
  fc.string({ unit: "grapheme", minLength: 1, maxLength: 5 }).filter((text) => !/[\r\n]/.test(text)),
);

const joined = (inputs: readonly KeyInput[]): KeyInput[] => {
  const all: KeyInput[] = [];
  for (const input of inputs) {
    const last = all.at(-1);
    if (last?.type === "text" && input.type === "text")
      all.splice(-1, 1, { type: "text", text: last.text + input.text });
    else all.push(input);
  }
  return all;
};

const pushAll = (chunks: readonly Uint8Array[]): KeyInput[] => {
  const { keys, inputs } = reader();
  for (const chunk of chunks) keys.push(chunk);
  keys.flush();
  return joined(inputs);
};

const cut = (whole: Uint8Array, sizes: readonly number[]): Uint8Array[] => {
  const chunks: Uint8Array[] = [];
  let at = 0;
  for (const size of sizes) {
    chunks.push(whole.subarray(at, at + size));
    at += size;
  }
  return [...chunks, whole.subarray(at)];
};

describe("however the bytes are cut", () => {
  const sizes = fc.array(fc.integer({ min: 1, max: 5 }), { maxLength: 60 });

  test("the same keys come", () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), sizes, (pieces, lengths) => {
        const whole = bytes(pieces.join(""));
        expect(pushAll(cut(whole, lengths))).toEqual(pushAll([whole]));
      }),
      { numRuns: 500 },
    );
  });

  test("broken sequences are the same broken sequences", () => {
    const character = fc.constantFrom(..."\x1b[O]P_;:?<$0123~AuMR^@ \x07\\\x01\x9b\x9c你z");
    fc.assert(
      fc.property(fc.array(character, { maxLength: 25 }), sizes, (characters, lengths) => {
        const whole = bytes(characters.join(""));
        expect(pushAll(cut(whole, lengths))).toEqual(pushAll([whole]));
      }),
      { numRuns: 500 },
    );
  });

  test("any bytes at all: nothing throws, no control character is text, and the reader goes on", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), sizes, (whole, lengths) => {
        const { keys, inputs } = reader();
        for (const chunk of cut(whole, lengths)) keys.push(chunk);
        keys.flush();
        for (const input of inputs) if (input.type === "text") expect(input.text).toMatch(/^[^\x00-\x1f\x7f-\x9f]+$/);
        keys.push(bytes("z"));
        expect(inputs.at(-1)).toEqual({ type: "text", text: "z" });
      }),
      { numRuns: 500 },
    );
  });
});
