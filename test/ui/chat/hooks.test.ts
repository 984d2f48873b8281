import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { en } from "../../../src/text/en.ts";
import { inputText, openChat, say, takesAnswers } from "../../helpers/chat.ts";
import { bash } from "../../helpers/program.ts";
import { KEYS } from "../../helpers/terminal.ts";

const strings = en.hooks;

test("a hook's question stands in the chat with its reason, also where the mode asks nothing", async () => {
  const command = 'echo \'{"decision":"ask","reason":"touches production"}\'';
  const settings = { permissionMode: "auto", hooks: [{ on: "tool.pre", match: "bash", command }] };
  const { terminal, model, place } = await openChat({ settings });
  say(terminal, "go");
  const turn = await model.next();
  turn.callTools(bash("touch ran"));
  turn.finish();
  await terminal.waitFor((shown) => /^\? bash +touch ran/m.test(shown.screen()) && shown.screen().includes("esc  no"));
  await terminal.waitFor(takesAnswers);
  expect(terminal.screen()).toContain(strings.asks("touches production"));
  expect(terminal.screen()).not.toMatch(/a +yes/);
  expect(existsSync(join(place.workDir, "ran"))).toBe(false);
  terminal.send("y");
  (await model.next()).answer("Done.");
  await terminal.waitFor("● Done.");
  expect(existsSync(join(place.workDir, "ran"))).toBe(true);
});

test("a refused message says why, and the chat goes on; Esc ends a hook that hangs; leaving tells the session's end", async () => {
  const prompt =
    "read -r line; case $line in *secret*) echo 'it holds a secret' >&2; exit 2;; *hang*) touch hangs; sleep 300;; esac";
  const hooks = [
    { on: "prompt.submit", command: prompt },
    { on: "session.end", command: "cat > ended" },
  ];
  const { terminal, model, place } = await openChat({ settings: { hooks } });
  say(terminal, "a secret");
  await terminal.waitFor("it holds a secret");
  say(terminal, "hang");
  await expect.poll(() => existsSync(join(place.workDir, "hangs")), { timeout: 5000 }).toBe(true);
  terminal.send(KEYS.escape);
  await terminal.waitFor("interrupted");
  say(terminal, "hello");
  const turn = await model.next();
  expect(turn.last).toBe("hello");
  turn.answer("Hi.");
  await terminal.waitFor("● Hi.");
  say(terminal, "/quit");
  expect(await terminal.exited).toEqual({ exitCode: 0, signal: 0 });
  expect(JSON.parse(readFileSync(join(place.workDir, "ended"), "utf8"))).toMatchObject({ event: "session.end" });
});

test.each(["after its tools", "for the next run"])(
  "Esc while a hook thinks about a queued message gives it back, and sends it nowhere (%s)",
  async (when) => {
    const command = "read -r line; case $line in *later*) touch thinks; sleep 300;; esac";
    const { terminal, model, place } = await openChat({ settings: { hooks: [{ on: "prompt.submit", command }] } });
    say(terminal, "go");
    const turn = await model.next();
    say(terminal, "later");
    await terminal.waitFor("queued: later");
    if (when === "after its tools") turn.callTools(bash("ls"));
    else turn.send("Hi.");
    turn.finish();
    await expect.poll(() => existsSync(join(place.workDir, "thinks")), { timeout: 5000 }).toBe(true);
    terminal.send(KEYS.escape);
    await terminal.waitFor((shown) => inputText(shown) === "later" && shown.screen().includes("interrupted"));
    await terminal.idle();
    expect(model.count()).toBe(1);
    expect(inputText(terminal)).toBe("later");
    terminal.send(KEYS.backspace.repeat(5));
    say(terminal, "hello");
    const next = await model.next();
    expect(next.last).toMatch(/hello$/);
    expect(JSON.stringify(next.messages)).not.toContain("later");
  },
);
