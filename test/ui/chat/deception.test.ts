import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { countOf, inputText, openChat, say, takesAnswers } from "../../helpers/chat.ts";
import type { PacedModel } from "../../helpers/paced-model.ts";
import { bash } from "../../helpers/program.ts";
import { foreignSequences } from "../../helpers/sequences.ts";
import { KEYS, type Terminal } from "../../helpers/terminal.ts";

const callTools = async (model: PacedModel, ...calls: readonly (readonly [name: string, args: unknown])[]) => {
  const turn = await model.next();
  turn.callTools(...calls);
  turn.finish();
};

/** Keys answer once the question has been on the screen: the cursor leaves the input then. */
const asked = (terminal: Terminal, expected: RegExp): Promise<void> =>
  terminal.waitFor(
    (shown) => expected.test(shown.screen()) && /^ {4}esc {2}no/m.test(shown.screen()) && takesAnswers(shown),
  );

const BLANKS = " ".repeat(500);
const APPLE = "https://\u0430pple.com/x";

// SE-058
test.each<readonly [string, string, readonly RegExp[]]>([
  [
    "500 blanks before what matters",
    `touch hi${BLANKS}; curl https://evil.example`,
    [/touch hi/, /; curl https:\/\/evil/],
  ],
  ["tabs and newlines", "touch hi\n\n\n\tcurl https://evil.example", [/│ touch hi$/m, /│ +curl https:\/\/evil/]],
  [
    "a carriage return",
    "curl https://evil.example #\recho hi",
    [/evil\.example #\\u\{d\}echo hi/, /hidden characters/],
  ],
  ["a reversed text", "touch \u202ehsab | 1\u202c", [/touch \\u\{202e\}hsab \| 1\\u\{202c\}/, /hidden characters/]],
  ["isolates", "touch \u2066x\u2069", [/\\u\{2066\}x\\u\{2069\}/, /hidden characters/]],
  ["a zero-width space", "touch a\u200bb", [/a\\u\{200b\}b/, /hidden characters/]],
  ["a variation selector", "touch a\u{e0100}b", [/a\\u\{e0100\}b/, /hidden characters/]],
  ["a Hangul filler", "touch a\u3164b", [/a\\u\{3164\}b/, /hidden characters/]],
  // SE-060
  ["a host of letters that look like others", `curl ${APPLE}`, [/\? bash +curl/, /pple\.com is xn--pple-43d\.com/]],
])("of a command with %s the whole is shown, and what is hidden in it is told", async (_name, command, expected) => {
  const { terminal, model } = await openChat({ rows: 40 });
  say(terminal, "go");
  await callTools(model, bash(command));
  await asked(terminal, /^\? bash/m);
  for (const one of expected) expect(terminal.screen()).toMatch(one);
  expect(/hidden characters/.test(terminal.screen())).toBe(expected.some(({ source }) => source.includes("hidden")));
  expect(terminal.raw()).not.toMatch(/[\u202a-\u202e\u2066-\u2069\u200b\u3164]/);
  expect(foreignSequences(terminal.raw())).toEqual([]);
});

test("a dialog in a command stands behind a bar, where no answer of ours stands", async () => {
  const fake = "    y  yes\n  › n  no, and say why\n    esc  no\n? bash       ls\n    y  yes";
  const { terminal, model } = await openChat({ rows: 40 });
  say(terminal, "go");
  await callTools(model, ["bash", { command: `touch hi\n${fake}`, description: fake }]);
  await asked(terminal, /^\? bash/m);
  const answers = terminal.rows().filter((row) => /^ {2}[› ] (y|n|esc) /.test(row));
  expect(answers.map((row) => row.trim())).toEqual(["› y  yes", "n  no, and say why", "esc  no"]);
  expect(terminal.rows().filter((row) => row.startsWith("?"))).toEqual(["? bash"]);
});

test("what was shown whole is printed above when a message needs its room", async () => {
  const lines = Array.from({ length: 8 }, (_, index) => `touch ${index}`);
  const { terminal, model } = await openChat({ rows: 24 });
  say(terminal, "go");
  await callTools(model, bash(lines.join("\n")));
  await asked(terminal, /│ touch 7/);
  for (let row = 0; row < 8; row += 1) terminal.send(`x${row}\\\r`);
  await terminal.waitFor(/all of it stands above/);
  for (const line of lines) expect(countOf(terminal, `│ ${line}`)).toBe(1);
  expect(terminal.screen()).toMatch(/^ {2}› y {2}yes$/m);
  expect(terminal.screen()).toMatch(/^ {4}n {2}no, and say why$/m);
});

test.each(["yes do it\r", "x\r", "also fix the tests\r"])(
  "%j, in one read while a question stands, is a message and no answer",
  async (typed) => {
    const { terminal, model, place } = await openChat();
    say(terminal, "go");
    await callTools(model, bash("touch made"));
    await asked(terminal, /^\? bash/m);
    terminal.send(typed);
    await terminal.waitFor(`queued: ${typed.trim()}`);
    await asked(terminal, /^\? bash/m);
    expect(existsSync(join(place.workDir, "made"))).toBe(false);
    terminal.send(KEYS.escape);
    const next = await model.next();
    expect(next.last).toBe(typed.trim());
    next.answer("Fine.");
    await terminal.waitFor("● Fine.");
    expect(inputText(terminal)).toBe("");
  },
);

// SE-060
test("a link shows where it leads, and a host that looks like another shows its real name", async () => {
  const { terminal, model } = await openChat();
  say(terminal, "go");
  const text = `[https://good.example](https://evil.example) [this](${APPLE}) <${APPLE}> [https://good.example](https://good.example) the end`;
  (await model.next()).answer(text);
  await terminal.waitFor(/the end/);
  const shown = terminal.all().replace(/\s+/g, " ");
  expect(shown).toContain(
    `https://good.example (https://evil.example) this (https://xn--pple-43d.com/x) ${APPLE} (https://xn--pple-43d.com/x) https://good.example`,
  );
  expect(terminal.raw()).not.toContain("\x1b]8;");
});
