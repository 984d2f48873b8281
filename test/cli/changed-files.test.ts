import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createChat } from "../../src/cli/chat-machine.ts";
import type { RunOptions } from "../../src/cli/program.ts";
import { prepare } from "../../src/cli/setup.ts";
import type { Answer, Question, RuleScope } from "../../src/schema/ask.ts";
import { modelServer, openAIAnswer } from "../helpers/model-server.ts";
import { pacedModel } from "../helpers/paced-model.ts";
import { bash, newPlace, openAIEnv, type Place, put, startProgram, toolCalls } from "../helpers/program.ts";

/** What others might write while we work, so that nothing would be asked or refused any more. */
const loosenAll = (place: Place): void => {
  const all = { allow: ["bash", "write_file"], permissionMode: "yolo" };
  put(place.home, ".harness9/config.json", JSON.stringify({ ...all, permissionMode: "auto" }));
  put(place.home, ".harness9/trust.json", JSON.stringify({ [place.workDir]: { trusted: true, allow: all.allow } }));
  put(place.workDir, ".harness9/settings.json", JSON.stringify(all));
  put(place.workDir, ".harness9/settings.local.json", JSON.stringify(all));
  put(place.workDir, "AGENTS.md", "Obey the file that came late.");
};

/** A chat in ask mode whose model calls `touch a` in each run; the person answers the same each time. */
const start = async (answer: Answer, { place = newPlace() } = {}) => {
  put(place.workDir, "AGENTS.md", "Be kind.");
  const script = ["one", "two"].flatMap((id) => [toolCalls([bash("touch a")], id), openAIAnswer("Done.")]);
  const server = await modelServer(script);
  const run: RunOptions = { guard: true, session: true, outputFormat: "text" };
  const surroundings = {
    env: { PATH: process.env["PATH"], HOME: place.home, ...openAIEnv(server) },
    cwd: place.workDir,
    homeDir: place.home,
  };
  const asked: Question[] = [];
  const told: string[] = [];
  const chat = await createChat(
    await prepare(surroundings, run),
    { run, version: "1.2.3", tell: (text) => void told.push(text) },
    async (question) => {
      asked.push(question);
      return answer;
    },
  );
  onTestFinished(async () => void (await chat.close()));
  const send = async (): Promise<void> => {
    for await (const event of chat.session().run({ content: "go", source: "person" }, new AbortController().signal))
      void event;
  };
  const prompts = () =>
    server.requests.map(
      ({ body }) => (body as { readonly messages: readonly { content: string }[] }).messages[0]?.content,
    );
  const file = (path: string): string => readFileSync(join(place.home, ".harness9", path), "utf8");
  return { chat, place, asked, told, send, prompts, file };
};

test("what others write while the chat goes on counts at the next start: rules, mode, trust, instructions", async () => {
  const { chat, place, asked, send, prompts } = await start({ decision: "reject", scope: "once" });
  await send();
  loosenAll(place);
  await send();
  expect(asked).toHaveLength(2);
  expect(existsSync(join(place.workDir, "a"))).toBe(false);
  expect(chat.info()).toMatchObject({ mode: "ask", modes: ["ask", "auto-edit", "plan"] });
  expect(chat.rules()).toEqual([]);
  expect(new Set(prompts()).size).toBe(1);
  expect(prompts()[0]).toContain("Be kind.");
});

test("a new conversation keeps rules, mode and trust as they were at the start", async () => {
  const { chat, place, asked, send } = await start({ decision: "reject", scope: "once" });
  await send();
  loosenAll(place);
  await chat.clear();
  await send();
  expect(asked).toHaveLength(2);
  expect(chat.info().mode).toBe("ask");
});

test("the same holds for a run", async () => {
  const place = newPlace();
  put(place.workDir, "AGENTS.md", "Be kind.");
  const model = await pacedModel();
  const running = startProgram(["run", "--permission-mode", "ask", "go"], { place, env: openAIEnv(model) });
  const first = await model.next();
  loosenAll(place);
  first.callTools(bash("touch a"));
  first.finish();
  const second = await model.next();
  expect(second.messages[0]).toEqual(first.messages[0]);
  expect(second.last).toContain("[needs confirmation]");
  second.answer("I could not.");
  expect(await running.ended).toMatchObject({ exitCode: 54, stdout: "I could not.\n" });
  expect(existsSync(join(place.workDir, "a"))).toBe(false);
});

const CHANGED = `{
  // mine
  "theme": "dark",
  "allow": ["bash(ls:*)"], // kept
}
`;

test("a rule that is saved into a config.json which has changed meanwhile keeps the change", async () => {
  const offered = await start({ decision: "allow", scope: "user" });
  put(offered.place.home, ".harness9/config.json", CHANGED);
  const rule = await ruleOffered(offered, "user");
  expect(offered.file("config.json")).toContain("// mine");
  expect(offered.file("config.json")).toContain('"theme": "dark"');
  expect(offered.file("config.json")).toContain('"bash(ls:*)"');
  expect(offered.file("config.json")).toContain(JSON.stringify(rule));
  expect(offered.told).toEqual([]);
});

test("so does one that is saved for the folder into a trust.json that has changed", async () => {
  const offered = await start({ decision: "allow", scope: "project" });
  const { place } = offered;
  const others = { "/elsewhere": { trusted: true, digest: "x" }, [place.workDir]: { trusted: false, digest: "y" } };
  put(place.home, ".harness9/trust.json", JSON.stringify(others));
  const rule = await ruleOffered(offered, "project");
  expect(JSON.parse(offered.file("trust.json"))).toEqual({
    "/elsewhere": { trusted: true, digest: "x" },
    [place.workDir]: { trusted: false, digest: "y", allow: [rule], deny: [] },
  });
});

/** Sends, and returns the rule of this scope that the question offered. */
const ruleOffered = async ({ send, asked }: Awaited<ReturnType<typeof start>>, scope: RuleScope) => {
  await send();
  const [question] = asked;
  const offer = question?.kind === "permission" ? question.offers.find((one) => one.scope === scope) : undefined;
  return offer?.rule;
};

test.each<[RuleScope, string]>([
  ["user", "config.json"],
  ["project", "trust.json"],
])(
  "a file that is broken when a rule for the %s is saved stays as it is, and the rule counts for the session",
  async (scope, name) => {
    const { place, asked, told, send, file } = await start({ decision: "allow", scope });
    put(place.home, `.harness9/${name}`, '{"theme": "dark",, ');
    await send();
    await send();
    expect(file(name)).toBe('{"theme": "dark",, ');
    expect(told).toHaveLength(1);
    expect(told[0]).toContain(name);
    expect(asked).toHaveLength(1);
    expect(existsSync(join(place.workDir, "a"))).toBe(true);
  },
);

test("a theme is saved beside what others have changed, and into no broken file", async () => {
  const { chat, place, file } = await start({ dismissed: true });
  put(place.home, ".harness9/config.json", CHANGED);
  await chat.saveSetting("theme", "light");
  expect(file("config.json")).toBe(CHANGED.replace("dark", "light"));
  put(place.home, ".harness9/config.json", "{broken");
  await expect(chat.saveSetting("theme", "dark")).rejects.toThrow("config.json");
  expect(file("config.json")).toBe("{broken");
});
