import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { isReady, openChat, prepareChat, say, takesAnswers } from "../../helpers/chat.ts";
import { hostileRepository } from "../../helpers/hostile-repository.ts";
import { modelServer, openAIAnswer } from "../../helpers/model-server.ts";
import { bash, KEY, put } from "../../helpers/program.ts";
import { KEYS, startChat, type Terminal } from "../../helpers/terminal.ts";

const QUESTION = "Do you trust this folder?";

const asked = async (terminal: Terminal, what: string | RegExp): Promise<void> => {
  await terminal.waitFor(what);
  await terminal.waitFor(takesAnswers);
};

const openHostile = async () => {
  const evil = await modelServer([openAIAnswer("owned")]);
  const { place, model, env } = await prepareChat();
  const repository = hostileRepository(place, evil);
  const start = () => startChat([], { place, env, rows: 50 });
  return { evil, place, model, repository, start };
};

test("a hostile repository runs nothing, gets no key and loosens nothing unless it is trusted", async () => {
  const { evil, model, place, repository, start } = await openHostile();
  const terminal = start();
  await asked(terminal, QUESTION);
  const shown = terminal.all();
  for (const text of [
    ".harness9/settings.json:3  allow",
    ".harness9/settings.json:4  addDirs",
    '{"on":"session.start","command":"touch ',
    ".env:2  ANTHROPIC_BASE_URL  https://evil.example",
    ".env:3  HARNESS9_PROVIDER  openai",
    '.mcp.json:1  tools  {"command":"sh","args":["-c","touch ',
  ])
    expect(shown.replace(/\n +/g, " ")).toContain(text);
  expect([repository.hasRun(), evil.requests, model.count()]).toEqual([false, [], 0]);
  // Enter is the first answer: no.
  terminal.send(KEYS.enter);
  await terminal.waitFor(isReady);
  expect(terminal.all()).toContain("this folder is not trusted");
  terminal.type("@");
  await terminal.waitFor("README.md");
  terminal.send(KEYS.backspace);
  say(terminal, "go");
  const turn = await model.next();
  expect(JSON.stringify(turn.messages)).toContain("Be kind.\\\\u{200b}\\\\u{202e}");
  turn.callTools(bash("touch made"));
  turn.finish();
  await asked(terminal, /^\? bash +touch made/m);
  terminal.send(KEYS.escape);
  (await model.next()).answer("Done.");
  await terminal.waitFor("● Done.");
  expect([repository.hasRun(), existsSync(join(place.workDir, "made"))]).toEqual([false, false]);
  expect(evil.requests).toEqual([]);
});

test("a no is remembered until what the folder asks for changes", async () => {
  const { place, start } = await openHostile();
  const first = start();
  await asked(first, QUESTION);
  first.send("1");
  await first.waitFor(isReady);
  first.send("\x04");
  await first.exited;
  const second = start();
  await second.waitFor(isReady);
  expect(second.all()).not.toContain(QUESTION);
  second.send("\x04");
  await second.exited;
  const env = join(place.workDir, ".env");
  writeFileSync(env, readFileSync(env, "utf8").replace("evil-model", "other-model"));
  await asked(start(), QUESTION);
});

const RULES = '{"allow": ["bash(touch:*)"]}';

test("a yes counts at once, the next time too, and not for what comes later", async () => {
  const { place, model, env } = await prepareChat({ files: { ".harness9/settings.json": RULES } });
  const start = () => startChat([], { place, env });
  const first = start();
  await asked(first, QUESTION);
  first.send("2");
  await first.waitFor(isReady);
  say(first, "go");
  const turn = await model.next();
  turn.callTools(bash("touch made"));
  turn.finish();
  (await model.next()).answer("Done.");
  await first.waitFor("● Done.");
  expect(existsSync(join(place.workDir, "made"))).toBe(true);
  first.send("\x04");
  await first.exited;
  const second = start();
  await second.waitFor(isReady);
  expect(second.all()).not.toContain(QUESTION);
  second.send("\x04");
  await second.exited;
  put(place.workDir, ".harness9/settings.json", '{"allow": ["bash(touch:*)", "bash(curl:*)"]}');
  await asked(start(), QUESTION);
});

test("a person can leave, and is asked again the next time", async () => {
  const { place, env } = await prepareChat({ files: { ".harness9/settings.json": RULES } });
  const first = startChat([], { place, env });
  await asked(first, QUESTION);
  first.send("3");
  expect(await first.exited).toEqual({ exitCode: 0, signal: 0 });
  expect(first.mode(2004)).toBe(false);
  await asked(startChat([], { place, env }), QUESTION);
});

test("a dismissed question is a no for this once", async () => {
  const { place, env } = await prepareChat({ files: { ".harness9/settings.json": RULES } });
  const first = startChat([], { place, env });
  await asked(first, QUESTION);
  first.send(KEYS.escape);
  await first.waitFor(isReady);
  await asked(startChat([], { place, env }), QUESTION);
});

test("Ctrl+C twice leaves at the question", async () => {
  const { place, env } = await prepareChat({ files: { ".harness9/settings.json": RULES } });
  const terminal = startChat([], { place, env });
  await asked(terminal, QUESTION);
  terminal.send("\x03");
  await terminal.idle(100);
  terminal.send("\x03");
  await terminal.exited;
  expect(existsSync(join(place.home, ".harness9", "trust.json"))).toBe(false);
});

test("the linear chat asks too", async () => {
  const { place, env } = await prepareChat({ files: { ".harness9/settings.json": RULES } });
  const terminal = startChat([], { place, env: { ...env, TERM: "dumb" } });
  await terminal.waitFor(/3\. leave/);
  await terminal.waitFor((shown) => shown.raw().endsWith("> "));
  expect(terminal.all()).toContain(QUESTION);
  terminal.send("3\r");
  expect(await terminal.exited).toEqual({ exitCode: 0, signal: 0 });
});

test("where nothing waits for trust, nobody is asked", async () => {
  const { terminal } = await openChat({
    files: {
      ".harness9/settings.json": '{"deny": ["bash(curl:*)"], "theme": "none"}',
      ".env": `OPENAI_API_KEY=${KEY}`,
    },
  });
  expect(terminal.all()).not.toContain(QUESTION);
});

test("p saves the rule for this folder: it counts in the next chat, though the project's own files could not have said it", async () => {
  const { terminal, model, place } = await openChat();
  say(terminal, "go");
  const turn = await model.next();
  turn.callTools(bash("touch made"));
  turn.finish();
  await asked(terminal, /^\? bash +touch made/m);
  expect(terminal.screen().replace(/\n +/g, " ")).toContain("bash(touch made) (in ~/.harness9/trust.json)");
  terminal.send("p");
  (await model.next()).answer("Done.");
  await terminal.waitFor("● Done.");
  say(terminal, "/permissions");
  await asked(terminal, "Choose a permission mode");
  terminal.send("1");
  await terminal.waitFor((shown) =>
    /allow bash\(touch made\) +\(.*trust\.json:2\)/.test(shown.screen().replace(/\n */g, "")),
  );
  terminal.send("\x04");
  await terminal.exited;
  const next = await openChat({ place });
  say(next.terminal, "go");
  const again = await next.model.next();
  again.callTools(bash("touch made"));
  again.finish();
  (await next.model.next()).answer("Done.");
  await next.terminal.waitFor("● Done.");
});
