import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openChat, say, takesAnswers } from "../../helpers/chat.ts";
import { newPlace, put, readLog, sessionFolder } from "../../helpers/program.ts";
import { KEYS } from "../../helpers/terminal.ts";

const SMALL = { rows: 40, settings: { models: { "openai/test-model": { contextWindow: 12_000 } } } };
/** About 6,000 tokens of work that a summary can stand for. */
const LONG = `Work. ${"word ".repeat(4800)}`;
const SUMMARY = "## Intent\nKeep the shop open.";

test("a full context is compacted by itself, in one line, and the run goes on with the summary", async () => {
  const { terminal, model, place } = await openChat(SMALL);
  say(terminal, "first order");
  (await model.next()).answer(LONG, { input: 3000, output: 7000 });
  await terminal.waitFor(/context 83%/);
  say(terminal, "second order");
  const asked = await model.next();
  expect(asked.last).toContain("Write a summary of this conversation");
  asked.answer(SUMMARY, { input: 10_000, output: 20 });
  const next = await model.next();
  expect(next.messages.map(({ role }) => role)).toEqual(["system", "user"]);
  expect(next.messages[1]?.content).toMatch(/^first order[\s\S]*Keep the shop open\.[\s\S]*second order$/);
  next.answer("Open.", { input: 3500, output: 10 });
  await terminal.waitFor("● Open.");
  expect(terminal.all()).toMatch(/! compacted 10k → \d(\.\d)?k tokens, \/compact undo takes it back/);
  await terminal.waitFor(/context 29%/);

  say(terminal, "/compact undo");
  await terminal.waitFor(/compaction taken back: [\d.]+k → 1\d(\.\d)?k tokens/);
  const folder = sessionFolder(place);
  const [journal = ""] = readdirSync(folder).filter((name) => name.endsWith(".jsonl"));
  const types = readFileSync(join(folder, journal), "utf8").match(/^\{"type":"compaction[^"]*"/gm);
  expect(types).toEqual(['{"type":"compaction"', '{"type":"compaction.undone"']);
  expect(readLog(place)).toMatch(/上下文已压缩 │ tokens=\d+→\d+ messages=4→4/);
});

test("/compact writes a summary with a focus, shows it, takes a change from the editor, and can be stopped", async () => {
  const place = newPlace();
  const editor = put(place.home, "editor.sh", '#!/bin/sh\nprintf "MY OWN SUMMARY" > "$1"\n');
  const { terminal, model } = await openChat({ ...SMALL, place, env: { VISUAL: `sh ${editor}` } });
  say(terminal, "/compact");
  await terminal.waitFor("there is nothing to compact yet");
  say(terminal, "first order");
  (await model.next()).answer(LONG, { input: 2000, output: 6000 });
  await terminal.waitFor(/context 67%/);

  say(terminal, "/compact");
  const stopped = await model.next();
  await terminal.waitFor("writing a summary; esc or ctrl+c stops it");
  terminal.send(KEYS.escape);
  await stopped.abandoned;
  await terminal.waitFor("stopped; the conversation is as it was");

  say(terminal, "/compact the prices");
  const asked = await model.next();
  expect(asked.last).toContain("above all: the prices");
  asked.answer(SUMMARY, { input: 8000, output: 20 });
  await terminal.waitFor((shown) => shown.screen().includes("change it in the editor") && takesAnswers(shown));
  expect(terminal.screen()).toContain("Keep the shop open.");
  terminal.send(KEYS.down);
  terminal.send(KEYS.enter);
  await terminal.waitFor("the model goes on with your summary");
  say(terminal, "second order");
  const next = await model.next();
  expect(JSON.stringify(next.messages)).toContain("MY OWN SUMMARY");
  expect(JSON.stringify(next.messages)).not.toContain("Keep the shop open");
  next.answer("Open.", { input: 2600, output: 10 });
  await terminal.waitFor("● Open.");
  say(terminal, "/context");
  await terminal.waitFor("summary of older steps");
  expect(terminal.screen()).toContain("it is compacted by itself from 9,600 tokens on");
});
