import { EventEmitter } from "node:events";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createLineInput } from "../../../src/ui/linear/line-input.ts";

const open = () => {
  const modes: boolean[] = [];
  const keyboard = Object.assign(new EventEmitter(), {
    setRawMode: (isRaw: boolean) => modes.push(isRaw),
    resume: () => undefined,
    pause: () => undefined,
  });
  const heard: string[] = [];
  const input = createLineInput({
    input: keyboard,
    onLine: (text) => heard.push(text),
    onCancel: () => heard.push("(cancelled)"),
    onEnd: () => heard.push("(end)"),
  });
  const send = (text: string | Uint8Array): void => void keyboard.emit("data", Buffer.from(text));
  return { input, heard, modes, send, keyboard };
};

test("lines come without their ends and without control sequences", () => {
  const { heard, send } = open();
  send("one\ntwo\r\nthree\rfour\x1b[A\x07\n\nhalf");
  expect(heard).toEqual(["one", "two", "three", "four", ""]);
  send(" a line\n");
  expect(heard.at(-1)).toBe("half a line");
});

test("any division into bytes gives the same lines", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: "grapheme" })), fc.array(fc.nat(9)), (texts, cuts) => {
      const bytes = Buffer.from(texts.map((text) => `${text.replace(/[\r\n]/g, "")}\n`).join(""));
      const whole = open();
      whole.send(bytes);
      const parts = open();
      let at = 0;
      for (const cut of cuts) {
        parts.send(bytes.subarray(at, at + cut));
        at += cut;
      }
      parts.send(bytes.subarray(at));
      expect(parts.heard).toEqual(whole.heard);
      expect(whole.heard).toHaveLength(texts.length);
    }),
  );
});

test("hidden text is edited by Backspace and Ctrl+U, and ends with Enter", () => {
  const { input, heard, modes, send } = open();
  input.hideTyping(true);
  send("wrong\x15sé😀\x7f\x7fecret\x1b[C\r");
  expect(heard).toEqual(["secret"]);
  send("half\x03");
  expect(heard).toEqual(["secret", "(cancelled)"]);
  input.hideTyping(false);
  send("half a line\n");
  expect(heard.at(-1)).toBe("half a line");
  expect(modes).toEqual([true, false]);
});

test("after its release it hears nothing, and the terminal shows again what is typed", () => {
  const { input, heard, modes, send, keyboard } = open();
  input.hideTyping(true);
  input.release();
  send("late\n");
  expect(heard).toEqual([]);
  expect(modes).toEqual([true, false]);
  keyboard.emit("end");
  expect(heard).toEqual(["(end)"]);
});
