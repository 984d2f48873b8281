import { expect, test } from "vitest";
import type { Chat } from "../../src/session/chat.ts";
import { createPersonEditor } from "../../src/ui/person-editor.ts";

type Edited = Awaited<ReturnType<Chat["editText"]>>;

const open = (edit: (text: string, name?: string) => Promise<Edited>, { isFree = true, isOpened = true } = {}) => {
  const happened: string[] = [];
  const closing = new AbortController();
  const chat = { editText: (text: string, _: AbortSignal, name?: string) => edit(text, name) } as unknown as Chat;
  const editor = createPersonEditor({
    chat: () => (isOpened ? chat : null),
    signal: closing.signal,
    release: () => {
      if (isFree) happened.push("released");
      return isFree;
    },
    acquire: () => happened.push("taken"),
    warn: (problem) => happened.push(`warned: ${problem}`),
  });
  return { editor, happened, closing };
};

test("the editor has the terminal until it ends, and gets the name of a file", async () => {
  let close: (text: string) => void = () => undefined;
  const chat = open(
    (text, name) =>
      new Promise((resolve) => {
        close = (more) => resolve(`${name} ${text}${more}`);
      }),
  );
  const edited = chat.editor.edit({ text: "a", name: "f.ts" });
  expect([chat.editor.isOpen, chat.happened]).toEqual([true, ["released"]]);
  close("b");
  expect(await edited).toBe("f.ts ab");
  expect([chat.editor.isOpen, chat.happened]).toEqual([false, ["released", "taken"]]);
});

test.each<readonly [string, () => Promise<Edited>]>([
  ["fails", async () => ({ problem: "vi: 1" })],
  ["cannot even be started", () => Promise.reject(new Error("vi: 1"))],
])("an editor that %s gives the terminal back, and the person is told", async (_name, edit) => {
  const chat = open(edit);
  expect(await chat.editor.change("mine")).toBeUndefined();
  expect(await chat.editor.edit({ text: "theirs", name: "f.ts" })).toEqual({ problem: "vi: 1" });
  await chat.editor.settled();
  expect(chat.happened).toEqual(["released", "taken", "warned: vi: 1", "released", "taken"]);
  expect(chat.editor.isOpen).toBe(false);
});

test.each([
  ["another program has the terminal", { isFree: false }],
  ["the machine has not started", { isOpened: false }],
])("nothing is edited while %s", async (_name, state) => {
  const chat = open(async () => "x", state);
  expect([await chat.editor.change("mine"), await chat.editor.edit({ text: "theirs" })]).toEqual([undefined, "theirs"]);
  expect(chat.happened).toEqual([]);
});

test("one editor at a time", async () => {
  let close: (text: string) => void = () => undefined;
  const chat = open(
    () =>
      new Promise((resolve) => {
        close = resolve;
      }),
  );
  const first = chat.editor.change("one");
  expect(await chat.editor.change("two")).toBeUndefined();
  close("edited");
  expect(await first).toBe("edited");
  expect(chat.happened).toEqual(["released", "taken"]);
});

test("who leaves is not told of an editor that was ended for it", async () => {
  const chat = open(async () => ({ problem: "SIGTERM" }));
  chat.closing.abort();
  expect(await chat.editor.change("mine")).toBeUndefined();
  expect(chat.happened).toEqual(["released", "taken"]);
});
