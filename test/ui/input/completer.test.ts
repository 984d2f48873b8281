import { describe, expect, test } from "vitest";
import type { Chat } from "../../../src/session/chat.ts";
import { en } from "../../../src/text/en.ts";
import { createCompleter } from "../../../src/ui/input/completer.ts";
import type { CompletionMenu } from "../../../src/ui/input/completion-lines.ts";

const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
};

const open = (machine: Partial<Chat> | null) => {
  const shown: (CompletionMenu | null)[] = [];
  const calls: string[] = [];
  const chat = machine && {
    listFiles: async () => {
      calls.push("files");
      return ["a.ts"];
    },
    listModels: async () => {
      calls.push("models");
      return [];
    },
    loginProviders: () => [],
    skills: { list: () => [], skipped: () => [], message: () => "" },
    info: () => ({ provider: "openai" }),
    ...machine,
  };
  const completer = createCompleter({
    chat: () => chat as unknown as Chat | null,
    strings: en.commands,
    show: (menu) => shown.push(menu),
    signal: new AbortController().signal,
  });
  return { completer, shown, calls };
};

const labels = (menu: CompletionMenu | null | undefined) => menu?.items.map(({ label }) => label);

describe("the completer", () => {
  test("has no menu before the machine has started", async () => {
    const { completer, shown } = open(null);
    completer.update("/he", 3);
    await turns();
    expect(completer.isOpen).toBe(false);
    expect(shown).toEqual([]);
  });

  test("lists files once, when the first is asked for", async () => {
    const { completer, shown, calls } = open({});
    completer.update("hello", 5);
    expect(calls).toEqual([]);
    completer.update("@", 1);
    completer.update("@a", 2);
    await turns();
    expect(calls).toEqual(["files"]);
    expect(labels(shown.at(-1))).toEqual(["a.ts"]);
    expect(completer.kind).toBe("file");
  });

  test("files that come late open no menu for a text that has gone", async () => {
    const { completer } = open({});
    completer.update("@a", 2);
    completer.update("", 0);
    await turns();
    expect(completer.isOpen).toBe(false);
  });

  test("an endpoint that lists no models is no error here", async () => {
    const { completer } = open({ listModels: () => Promise.reject(new Error("401")) });
    completer.update("/model x", 8);
    await turns();
    expect(completer.isOpen).toBe(false);
    expect(completer.accept("/model x")).toBeUndefined();
  });

  test("lists the models of the present provider, once while it stays", async () => {
    let provider = "openai";
    let reads = 0;
    const { completer, shown } = open({
      info: () => ({ provider }) as ReturnType<Chat["info"]>,
      listModels: async () => {
        reads += 1;
        return [{ id: "large", provider, contextWindow: null, prices: null, isCurrent: false }];
      },
    });
    completer.update("/model l", 8);
    completer.update("/model la", 9);
    await turns();
    completer.update("", 0);
    completer.update("/model ", 7);
    await turns();
    expect([reads, labels(shown.at(-1))]).toEqual([1, ["openai/large"]]);
    completer.update("", 0);
    provider = "mistral";
    completer.update("/model ", 7);
    await turns();
    expect([reads, labels(shown.at(-1))]).toEqual([2, ["mistral/large"]]);
  });

  test("a list that could not be read is tried again at the next command, not at each key", async () => {
    let reads = 0;
    const { completer } = open({
      listModels: async () => {
        reads += 1;
        throw new Error("401");
      },
    });
    for (const text of ["/model x", "/model xy", "/model xyz"]) {
      completer.update(text, text.length);
      await turns();
    }
    expect(reads).toBe(1);
    completer.update("", 0);
    completer.update("/model x", 8);
    await turns();
    expect(reads).toBe(2);
  });

  test("a list that comes when the provider is another one is not shown", async () => {
    let provider = "openai";
    const answers: (() => void)[] = [];
    const { completer, shown } = open({
      info: () => ({ provider }) as ReturnType<Chat["info"]>,
      listModels: () => {
        const id = provider;
        return new Promise((resolve) => {
          answers.push(() => resolve([{ id, provider: id, contextWindow: null, prices: null, isCurrent: true }]));
        });
      },
    });
    completer.update("/model ", 7);
    provider = "mistral";
    completer.update("", 0);
    completer.update("/model ", 7);
    answers[1]?.();
    await turns();
    answers[0]?.();
    await turns();
    expect(labels(shown.at(-1))).toEqual(["mistral/mistral"]);
  });

  test("says nothing more often than something changes", async () => {
    const { completer, shown } = open({});
    completer.update("a", 1);
    completer.update("ab", 2);
    completer.close();
    completer.move(1);
    await turns();
    expect(shown).toEqual([]);
  });

  test("a menu that was closed stays closed for its word, and can be opened again", async () => {
    const { completer } = open({});
    completer.update("/he", 3);
    await turns();
    expect(completer.isOpen).toBe(true);
    completer.close();
    completer.update("/hel", 4);
    expect(completer.isOpen).toBe(false);
    completer.open("/hel", 4);
    expect(completer.isOpen).toBe(true);
    expect(completer.accept("/hel")).toEqual({ start: 0, end: 4, replacement: "/help ", cursor: 6 });
  });
});
