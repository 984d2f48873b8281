import { expect, test } from "vitest";
import { openChat, say, takesAnswers } from "../../helpers/chat.ts";
import { openAIEnv } from "../../helpers/program.ts";
import { ctrl, KEYS, startChat, type Terminal } from "../../helpers/terminal.ts";

/** $0.008 at the prices of the chat's model: 80 % of the budget. */
const MOST = { input: 4000, output: 0 };
const BUDGET = { rows: 40, settings: { ...modelPrices(), maxCostUsd: 0.01 } };

function modelPrices(): object {
  const prices = { input: 2, output: 10, cacheRead: 1, cacheWrite: 2 };
  return { models: { "openai/test-model": { contextWindow: 100_000, prices } } };
}

const asked = (terminal: Terminal, question: string): Promise<void> =>
  terminal.waitFor((shown) => shown.screen().includes(question) && takesAnswers(shown));

test("the session's budget is warned of once, asked about when it is used up, and extended", async () => {
  const { terminal, model } = await openChat(BUDGET);
  say(terminal, "one");
  (await model.next()).answer("First.", MOST);
  await terminal.waitFor("80% of the budget is used: $0.008 of $0.01");
  await terminal.waitFor(/First\.[\s\S]*\n›/);
  say(terminal, "two");
  (await model.next()).answer("Second.", MOST);
  await terminal.waitFor(/Second\.[\s\S]*\n›/);
  say(terminal, "three");
  await asked(terminal, "The budget is used up: $0.016 of $0.01. Go on?");
  expect(model.count()).toBe(2);
  await terminal.idle(500);
  terminal.send(KEYS.enter);
  (await model.next()).answer("Third.", { input: 1000, output: 0 });
  await terminal.waitFor(/Third\.[\s\S]*\n›/);
  say(terminal, "/cost");
  await terminal.waitFor("budget: $0.018 of $0.026 used, $0.008 left");
  expect(terminal.all().split("80% of the budget").length).toBe(2);
});

test("a no ends the run with what had been done, and the next message asks again", async () => {
  const { terminal, model } = await openChat({ ...BUDGET, args: ["--permission-mode", "auto"] });
  say(terminal, "go");
  const turn = await model.next();
  turn.callTools(["bash", { command: "echo done" }]);
  turn.finish({ input: 6000, output: 0 });
  await asked(terminal, "The budget is used up: $0.012 of $0.01. Go on?");
  terminal.send(KEYS.escape);
  await terminal.waitFor("reached the cost limit ($0.01), stopped");
  say(terminal, "again");
  await asked(terminal, "The budget is used up: $0.012 of $0.01. Go on?");
  await terminal.idle(500);
  terminal.send(KEYS.down);
  terminal.send(KEYS.enter);
  const next = await model.next();
  expect(next.last).toBe("again");
  next.answer("Done.", { input: 0, output: 0 });
  await terminal.waitFor("● Done.");
});

test("what a session has spent counts when it goes on, and a new one begins anew", async () => {
  const { terminal, model, place } = await openChat(BUDGET);
  say(terminal, "one");
  (await model.next()).answer("First.", { input: 6000, output: 0 });
  await terminal.waitFor(/First\.[\s\S]*\n›/);
  terminal.send(ctrl("d"));
  await terminal.exited;
  const again = startChat(["-c"], { place, env: openAIEnv(model), rows: 40 });
  await again.waitFor(/First\.[\s\S]*\n›/);
  say(again, "two");
  await asked(again, "The budget is used up: $0.012 of $0.01. Go on?");
  again.send(KEYS.escape);
  await again.waitFor("reached the cost limit ($0.01), stopped");
  say(again, "/clear");
  await again.waitFor("a new conversation begins");
  say(again, "three");
  (await model.next()).answer("Third.", { input: 10, output: 0 });
  await again.waitFor("● Third.");
});
