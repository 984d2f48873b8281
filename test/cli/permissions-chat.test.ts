import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openChat, say, takesAnswers } from "../helpers/chat.ts";
import { bash } from "../helpers/program.ts";

/** The screen as one text, wrapped lines joined. */
const joined = (screen: string): string => screen.replace(/\s*\n\s*/g, " ");

test("a rule that was saved is taken back in /permissions, and the next such command is asked about again", async () => {
  const { terminal, model, place } = await openChat();
  const run = async (): Promise<void> => {
    say(terminal, "go");
    const turn = await model.next();
    turn.callTools(bash("touch made"));
    turn.finish();
  };
  await run();
  await terminal.waitFor(/^\? bash +touch made/m);
  await terminal.waitFor(takesAnswers);
  terminal.send("p");
  (await model.next()).answer("First.");
  await terminal.waitFor("● First.");
  const file = join(place.home, ".harness9/trust.json");
  expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({
    [place.workDir]: { allow: ["bash(touch made)"], deny: [] },
  });

  say(terminal, "/permissions");
  await terminal.waitFor((shown) => joined(shown.screen()).includes("or a saved rule to take back"));
  await terminal.waitFor(takesAnswers);
  terminal.send("6");
  await terminal.waitFor((shown) => joined(shown.screen()).includes("Take back bash(touch made), which stands in"));
  await terminal.waitFor(takesAnswers);
  terminal.send("2");
  await terminal.waitFor("bash(touch made) no longer counts");
  expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({ [place.workDir]: { allow: [], deny: [] } });

  await run();
  await terminal.waitFor((shown) => /no longer counts[\s\S]*^\? bash +touch made/m.test(shown.screen()));
  await terminal.waitFor(takesAnswers);
  terminal.send("\x1b");
  await model.next();
});

test("/permissions explain says what would become of a command, and runs nothing", async () => {
  const { terminal } = await openChat();
  say(terminal, "/permissions explain ls && git reset --hard");
  await terminal.waitFor((shown) =>
    joined(shown.screen()).includes("guard git reset --hard, throws away uncommitted changes"),
  );
  expect(joined(terminal.screen())).toContain("ask: ask (guard");
});
