import { expect, test } from "vitest";
import type { ChatMemory, ListedFile } from "../../../src/session/memory.ts";
import { runMemory } from "../../../src/ui/commands/memory.ts";
import { type CommandOptions, commandContext } from "../../helpers/command-context.ts";

const FILES: readonly ListedFile[] = [
  { kind: "instructions", path: "/home/.harness9/AGENTS.md", shown: "~/.harness9/AGENTS.md", bytes: null },
  { kind: "instructions", path: "/code/AGENTS.md", shown: "AGENTS.md", bytes: 40_000, shownBytes: 32_768 },
  { kind: "memory", path: "/code/.harness9/memory/a.md", shown: ".harness9/memory/a\u202e.md", bytes: 12 },
];

const open = (options: Omit<CommandOptions, "chat"> = {}, files = FILES, isOn = true) => {
  const saved: unknown[] = [];
  const memory: ChatMemory = {
    list: async () => ({ files, instructionLimit: 32_768, isOn }),
    read: async ({ shown }) => `text of ${shown}`,
    save: async (...args) => void saved.push(args),
  };
  return { saved, ...commandContext({ chat: { memory }, ...options }) };
};

test("the files are listed with what counts of them, and one can be chosen", async () => {
  const { context, said, questions, saved } = open();
  await runMemory("", context);
  expect(said()).toEqual([
    "! Instruction files: 32768 of 32768 bytes",
    "AGENTS.md  32768 of 40000 bytes count",
    "Memory files",
    ".harness9/memory/a\\u{202e}.md  12 bytes",
  ]);
  expect(questions).toEqual([
    {
      kind: "choice",
      title: "Which file should be opened?",
      options: [
        { id: "0", label: "~/.harness9/AGENTS.md  (not there yet)" },
        { id: "1", label: "AGENTS.md  32768 of 40000 bytes count" },
        { id: "2", label: ".harness9/memory/a\\u{202e}.md  12 bytes" },
      ],
    },
  ]);
  expect(saved).toEqual([]);
});

test("the one that is chosen opens in the editor and is saved", async () => {
  for (const [choice, said] of [
    ["1", "saved AGENTS.md; it counts from the next session on (/clear)"],
    ["2", "saved .harness9/memory/a\\u{202e}.md"],
  ] as const) {
    const chat = open({ answers: [{ choice }], edited: (text) => `${text}!` });
    await runMemory("", chat.context);
    const file = FILES[Number(choice)];
    expect(chat.opened).toEqual([{ text: `text of ${file?.shown}`, name: choice === "1" ? "AGENTS.md" : "a.md" }]);
    expect(chat.saved).toEqual([[file, `text of ${file?.shown}`, `text of ${file?.shown}!`]]);
    expect(chat.said().at(-1)).toContain(said);
  }
});

test("what was left as it was, or could not be edited, is not saved", async () => {
  const same = open({ answers: [{ choice: "1" }] });
  await runMemory("", same.context);
  expect([same.saved, same.said().at(-1)]).toEqual([[], expect.stringContaining("nothing changed")]);
  const failed = open({ answers: [{ choice: "1" }], edited: () => ({ problem: "vi: gone" }) });
  await runMemory("", failed.context);
  expect([failed.saved, failed.said().at(-1)]).toEqual([[], expect.stringContaining("vi: gone")]);
});

test("where there is nothing, and where the tools are off, that is said", async () => {
  const { context, said } = open({}, FILES.slice(0, 1), false);
  await runMemory("", context);
  expect(said().join(" ")).toContain("no instruction files yet, and nothing remembered.");
  expect(said().at(-1)).toBe("the memory tools are off (setting memory)");
});
