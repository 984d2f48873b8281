import { chmodSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { countOf, openChat, prepareChat, rowsBelowRule, say, takesAnswers } from "../../helpers/chat.ts";
import type { PacedTurn } from "../../helpers/paced-model.ts";
import { newPlace, type Place, put } from "../../helpers/program.ts";
import { KEYS, startChat, type Terminal } from "../../helpers/terminal.ts";

const SKILL = "---\nname: ship_it\ndescription: ships the shop\n---\n\nRun the checks.\n";

const withSkill = (): Place => {
  const place = newPlace();
  put(place.home, ".harness9/skills/ship/SKILL.md", SKILL);
  return place;
};

const lastInput = (turn: PacedTurn): string => turn.messages.findLast(({ role }) => role === "user")?.content ?? "";

test("a skill is completed, called up by its name, and stands in the transcript as it was typed", async () => {
  const { terminal, model } = await openChat({ place: withSkill() });
  terminal.type("/shi");
  await terminal.waitFor(/\/ship_it +ships the shop/);
  terminal.send(KEYS.tab);
  await terminal.waitFor((shown) => rowsBelowRule(shown).some((row) => row.startsWith("› /ship_it")));
  terminal.type("to staging");
  terminal.send(KEYS.enter);
  const turn = await model.next();
  expect(lastInput(turn)).toBe("Run the checks.\n\nto staging");
  turn.answer("Shipped.");
  await terminal.waitFor("Shipped.");
  expect(countOf(terminal, "/ship_it to staging")).toBe(1);
  expect(countOf(terminal, "Run the checks.")).toBe(0);
});

test("/skills and /memory list what there is, and /init sends an order that only the model sees", async () => {
  const { terminal, model } = await openChat({
    place: withSkill(),
    rows: 40,
    files: { "AGENTS.md": "be brief\n", ".agents/skills/x/SKILL.md": "none" },
  });
  say(terminal, "/skills");
  await terminal.waitFor(/\/ship_it {2}\(yours\)[\s\S]*ships the shop/);
  await terminal.waitFor(/left out the skill \.agents\/skills\/x\/SKILL\.md: no front matter/);
  say(terminal, "/init only the commands");
  const turn = await model.next();
  expect(lastInput(turn)).toMatch(/^Write AGENTS\.md[\s\S]*\n\nonly the commands$/);
  turn.answer("Written.");
  await terminal.waitFor("Written.");
  expect([countOf(terminal, "/init only the commands"), countOf(terminal, "Write AGENTS.md")]).toEqual([1, 0]);
  say(terminal, "/memory");
  await terminal.waitFor(/Instruction files: 9 of 32768 bytes[\s\S]*AGENTS\.md {2}9 bytes/);
});

test("/memory opens the chosen file in the editor and saves it", async () => {
  const place = newPlace();
  const editor = put(place.home, "editor", '#!/bin/sh\nprintf "be brief\\n" > "$1"\n');
  chmodSync(editor, 0o700);
  const { terminal } = await openChat({ place, rows: 40, env: { EDITOR: editor } });
  say(terminal, "/memory");
  await terminal.waitFor((shown) => /Which file should be opened/.test(shown.screen()) && takesAnswers(shown));
  await terminal.idle(1000);
  terminal.send(KEYS.enter);
  await terminal.waitFor(/saved ~\/\.harness9\/AGENTS\.md; it counts from the next session on/);
  expect(readFileSync(join(place.home, ".harness9/AGENTS.md"), "utf8")).toBe("be brief\n");
});

test("a question shows what would be remembered and where", async () => {
  const { terminal, model, place } = await openChat({ rows: 40 });
  say(terminal, "remember it");
  const note = { mode: "add", scope: "project", title: "Tests", content: "run npm test" };
  const turn = await model.next();
  turn.callTools(["memory_write", note]);
  turn.finish();
  await terminal.waitFor((shown) => /esc {2}no/.test(shown.screen()) && takesAnswers(shown));
  expect(terminal.screen()).toMatch(/memory_write[\s\S]*"Tests"[\s\S]*\+ run npm test/);
  await terminal.idle(1000);
  terminal.type("y");
  (await model.next()).answer("Noted.");
  await terminal.waitFor("Noted.");
  expect(readFileSync(join(place.workDir, ".harness9/memory/MEMORY.md"), "utf8")).toBe(
    "# Memory\n\n## Tests\n\nrun npm test\n",
  );
});

test("a project's skills are part of the trust question", async () => {
  const { place, env } = await prepareChat({ files: { ".agents/skills/ship/SKILL.md": SKILL } });
  const terminal = startChat([], { place, env, rows: 40 });
  await terminal.waitFor(/\.agents\/skills\/ship\/SKILL\.md {2}ship_it {2}ships the shop/);
});

test("all of it works as plain lines", async () => {
  const { place, model, env } = await prepareChat({ place: withSkill() });
  const terminal: Terminal = startChat([], { place, columns: 120, env: { TERM: "dumb", ...env } });
  const waits = (shown: Terminal): boolean => shown.raw().endsWith("> ");
  await terminal.waitFor(waits);
  say(terminal, "/ship_it now");
  const turn = await model.next();
  expect(lastInput(turn)).toBe("Run the checks.\n\nnow");
  turn.answer("Shipped.");
  await terminal.waitFor("answer: Shipped.");
  await terminal.waitFor(waits);
  say(terminal, "/init");
  const next = await model.next();
  expect(lastInput(next)).toMatch(/^Write AGENTS\.md/);
  next.answer("Written.");
  await terminal.waitFor("answer: Written.");
  expect(terminal.all()).not.toContain("Write AGENTS.md");
});
