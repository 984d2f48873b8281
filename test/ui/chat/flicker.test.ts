import { expect, test } from "vitest";
import { countOf, countRules, inputText, openChat, rowsBelowRule, say } from "../../helpers/chat.ts";
import { bash } from "../../helpers/program.ts";
import { foreignSequences } from "../../helpers/sequences.ts";
import type { Terminal } from "../../helpers/terminal.ts";

const isIdle = (terminal: Terminal): boolean => !/esc to stop/.test(terminal.screen());

const CLEARS = /\x1b\[(?:[23]?J|\d*(?:;\d*)?[Hf])/g;
const TOKENS = 5000;

/** Words that are told apart, in paragraphs, lists and code. */
const token = (index: number): string => {
  const word = `w${index} `;
  if (index % 300 === 299) return `${word}\n\n\`\`\`js\nconst v${index} = ${index};\n\`\`\`\n\n`;
  if (index % 100 === 99) return `${word}\n\n- item of `;
  return index % 40 === 39 ? `${word}\n\n` : word;
};

test("an answer of 5,000 tokens is written within a small factor of its length, never cleared, each line once", async () => {
  const { terminal, model } = await openChat();
  say(terminal, "talk");
  const turn = await model.next();
  await terminal.waitFor("esc to stop");
  const before = terminal.raw().length;
  let length = 0;
  // As a model is: some tokens at a time, each frame shown before the next.
  for (let index = 0; index < TOKENS; ) {
    const until = Math.min(TOKENS, index + 20);
    for (; index < until; index++) {
      turn.send(token(index));
      length += token(index).length;
    }
    await terminal.waitFor((shown) => lastWords(shown).includes(`w${until - 1}`));
  }
  turn.finish({ input: 10, output: TOKENS });
  await terminal.waitFor(isIdle);
  const written = terminal.raw().slice(before);
  expect(written.length / length).toBeLessThan(12);
  expect((written.match(CLEARS) ?? []).filter((sequence) => sequence !== "\x1b[J")).toEqual([]);
  const words = terminal.all().match(/\bw\d+\b/g) ?? [];
  expect(words).toEqual(Array.from({ length: TOKENS }, (_, index) => `w${index}`));
  expect(countRules(terminal)).toBe(1);
  expect(foreignSequences(terminal.raw())).toEqual([]);
});

const lastWords = (terminal: Terminal): string => terminal.screen();

test("an answer that comes at once, faster than a terminal reads, is whole", async () => {
  const { terminal, model } = await openChat();
  say(terminal, "talk");
  const turn = await model.next();
  for (let index = 0; index < TOKENS; index++) turn.send(token(index));
  turn.finish({ input: 10, output: TOKENS });
  await terminal.waitFor((shown) => isIdle(shown) && shown.all().includes(`w${TOKENS - 1}`));
  expect(terminal.all().match(/\bw\d+\b/g)).toHaveLength(TOKENS);
  expect(terminal.raw()).not.toMatch(/\x1b\[[23]J/);
});

test("an answer of 1 MB in one line does not hold up the keys", async () => {
  const { terminal, model } = await openChat();
  say(terminal, "talk");
  const turn = await model.next();
  const piece = "abcdefghi ".repeat(1000);
  for (let times = 0; times < 100; times++) turn.send(piece);
  turn.send("the end");
  terminal.type("typed meanwhile");
  await terminal.waitFor((shown) => inputText(shown) === "typed meanwhile");
  turn.finish();
  await terminal.waitFor((shown) => isIdle(shown) && shown.screen().includes("the end"));
  expect(countOf(terminal, "abcdefghi")).toBe(100_000);
  expect(inputText(terminal)).toBe("typed meanwhile");
});

test("an answer of 200 KB without a space is whole", async () => {
  const { terminal, model } = await openChat();
  say(terminal, "talk");
  const turn = await model.next();
  for (let times = 0; times < 100; times++) turn.send("x".repeat(2000));
  turn.answer(" end.");
  await terminal.waitFor((shown) => isIdle(shown) && shown.screen().includes("end."));
  expect(terminal.all().match(/x/g)?.length).toBeGreaterThanOrEqual(200_000);
});

test("the bytes of a frame after 1,000 lines of conversation are those of one after 10", async () => {
  const { terminal, model } = await openChat();
  const bytesOfTurn = async (text: string): Promise<number> => {
    const before = terminal.raw().length;
    say(terminal, "go");
    const turn = await model.next();
    turn.answer(text, { input: 100, output: 10 });
    await terminal.waitFor((shown) => shown.screen().includes(`● ${text}`) && isIdle(shown));
    await terminal.idle(100);
    return terminal.raw().length - before;
  };
  const early = Math.max(await bytesOfTurn("aaa"), await bytesOfTurn("bbb"));
  say(terminal, "long");
  (await model.next()).answer(Array.from({ length: 1000 }, (_, index) => `- item ${index}`).join("\n"));
  await terminal.waitFor((shown) => shown.screen().includes("item 999") && isIdle(shown));
  const late = Math.min(await bytesOfTurn("ccc"), await bytesOfTurn("ddd"));
  expect(late).toBeLessThan(early * 1.5);
});

test("500 tool calls in one turn are each a line", async () => {
  const files = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`f${index}.txt`, `content ${index}\n`]));
  const { terminal, model } = await openChat({ files, args: ["--permission-mode", "auto"] });
  say(terminal, "go");
  const turn = await model.next();
  turn.callTools(...Array.from({ length: 500 }, (_, index) => ["read_file", { path: `f${index}.txt` }] as const));
  turn.finish();
  const next = await model.next();
  expect(next.messages.filter(({ role }) => role === "tool")).toHaveLength(500);
  next.answer("All read.", { input: 10, output: 10 });
  await terminal.waitFor((shown) => shown.screen().includes("● All read.") && isIdle(shown));
  const steps = terminal.all().match(/^✓ read_file +f\d+\.txt/gm) ?? [];
  expect(new Set(steps).size).toBe(500);
  expect(steps).toHaveLength(500);
  expect(rowsBelowRule(terminal).length).toBeLessThan(5);
});

test("a command with much output shows its end and leaves a short step", async () => {
  const { terminal, model } = await openChat({ args: ["--permission-mode", "auto"] });
  say(terminal, "go");
  const before = terminal.raw().length;
  const turn = await model.next();
  turn.callTools(bash("seq 1 300000"));
  turn.finish();
  (await model.next()).answer("Counted.");
  await terminal.waitFor((shown) => shown.screen().includes("● Counted.") && isIdle(shown));
  expect(terminal.raw().length - before).toBeLessThan(60_000);
  expect(terminal.all()).toMatch(/lines more, ctrl\+o/);
});
