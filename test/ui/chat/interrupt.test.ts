import { expect, test } from "vitest";
import { countOf, inputText, openChat, say } from "../../helpers/chat.ts";
import { unpaired } from "../../helpers/paced-model.ts";
import { bash } from "../../helpers/program.ts";
import { eventually, processesIn } from "../../helpers/run-bash.ts";
import { ctrl, KEYS } from "../../helpers/terminal.ts";

test("Esc stops an answer at once, keeps what was written, and the next message works", async () => {
  const { terminal, model } = await openChat();
  say(terminal, "tell me");
  const turn = await model.next();
  turn.send("Once upon a time");
  await terminal.waitFor("Once upon a time");
  terminal.send(KEYS.escape);
  await terminal.waitFor(/^✗ interrupted/m, 2000);
  await turn.abandoned;
  expect(countOf(terminal, "Once upon a time")).toBe(1);
  say(terminal, "again");
  const next = await model.next();
  expect(next.last).toBe("again");
  next.answer("All right.");
  await terminal.waitFor("● All right.");
});

test("Esc while the model has not said anything stops the wait", async () => {
  const { terminal, model } = await openChat();
  say(terminal, "tell me");
  const turn = await model.next();
  await terminal.waitFor("esc to stop");
  terminal.send(KEYS.escape);
  await terminal.waitFor(/^✗ interrupted/m, 2000);
  await turn.abandoned;
});

test("Esc stops a running command with its children; the calls of the turn are answered", async () => {
  const { terminal, model, place } = await openChat({ args: ["--allow", "bash"] });
  say(terminal, "wait");
  const turn = await model.next();
  turn.callTools(bash("echo started; sleep 600 & sleep 600"), bash("sleep 601"));
  turn.finish();
  await terminal.waitFor("started");
  await eventually(() => processesIn(place.workDir).filter((line) => line.startsWith("sleep")).length === 3);
  terminal.send(KEYS.escape);
  await terminal.waitFor(/interrupted/, 2000);
  await eventually(() => processesIn(place.workDir).every((line) => !line.startsWith("sleep")));
  say(terminal, "what now");
  const next = await model.next();
  expect(unpaired(next.messages)).toEqual([]);
  expect(next.messages.filter(({ role }) => role === "tool")).toHaveLength(2);
  next.answer("Stopped.");
  await terminal.waitFor("● Stopped.");
});

test("a message sent right after Esc is not lost, though the command dies slowly", async () => {
  const { terminal, model } = await openChat({ args: ["--allow", "bash"] });
  say(terminal, "wait");
  const turn = await model.next();
  turn.callTools(bash("trap '' TERM; echo started; while true; do sleep 0.1; done"));
  turn.finish();
  await terminal.waitFor("started");
  terminal.send(KEYS.escape);
  // A person needs a moment; Esc and a letter at once would be Alt with that letter.
  await terminal.waitFor(/interrupted|stopping/, 2000);
  say(terminal, "go on");
  const next = await model.next();
  expect(next.last).toBe("go on");
  expect(unpaired(next.messages)).toEqual([]);
});

test("Ctrl+C cancels the run, and the chat goes on", async () => {
  const { terminal, model } = await openChat();
  say(terminal, "tell me");
  const turn = await model.next();
  turn.send("Once upon");
  await terminal.waitFor("Once upon");
  terminal.send(ctrl("c"));
  await terminal.waitFor(/interrupted/, 2000);
  await turn.abandoned;
  terminal.type("still here");
  await terminal.waitFor((shown) => inputText(shown) === "still here");
});

test("Esc during the wait before another try ends the wait", async () => {
  const { terminal, model } = await openChat();
  say(terminal, "go");
  (await model.next()).cut();
  (await model.next()).cut();
  await terminal.waitFor(/3 of 5/);
  terminal.send(KEYS.escape);
  await terminal.waitFor(/interrupted/, 2000);
});
