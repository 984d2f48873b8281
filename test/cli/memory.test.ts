import { chmodSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { chatMemory } from "../../src/cli/memory.ts";
import { prepare } from "../../src/cli/setup.ts";
import { modelServer, openAIAnswer, type ReceivedRequest } from "../helpers/model-server.ts";
import { KEY, newPlace, openAIEnv, type Place, put, readEvents, runProgram, toolCalls } from "../helpers/program.ts";

const MAIN = ".harness9/memory/MEMORY.md";

type Request = { readonly messages: readonly { readonly content: string }[]; readonly tools?: readonly unknown[] };
const bodyOf = (request: ReceivedRequest | undefined): Request => request?.body as Request;
const lastOf = (request: ReceivedRequest | undefined): string => bodyOf(request).messages.at(-1)?.content ?? "";

const write = (args: object): readonly [string, unknown] => ["memory_write", args];
const read = (query: string): readonly [string, unknown] => ["memory_read", { query }];

test("a run keeps what it is asked to remember, and the next one finds it", async () => {
  const place = newPlace();
  const note = { mode: "add", scope: "user", title: "Tests", content: `npm test; the key is ${KEY}` };
  const first = await modelServer([toolCalls([write(note)]), openAIAnswer("Noted.")]);
  const env = { ...openAIEnv(first), HARNESS9_LANGUAGE: "zh" };
  expect((await runProgram(["run", "remember"], { place, env })).exitCode).toBe(0);
  expect(lastOf(first.requests[1])).toBe("已记住 'Tests'：~/.harness9/memory/MEMORY.md:3-5");
  expect(readFileSync(join(place.home, MAIN), "utf8")).toBe(
    "# Memory\n\n## Tests\n\nnpm test; the key is [masked OPENAI_API_KEY]\n",
  );
  const second = await modelServer([toolCalls([read("how to run tests")]), openAIAnswer("npm test")]);
  const { stdout } = await runProgram(["run", "--output-format", "events", "ask"], {
    place,
    env: { ...openAIEnv(second), HARNESS9_LANGUAGE: "zh" },
  });
  expect(lastOf(second.requests[1])).toMatch(
    /^找到 1 个相关结果：\n- Tests\n {2}相关度：.相关 \| 匹配类型：关键词匹配\n {2}位置：~\/\.harness9\/memory\/MEMORY\.md:3-5（个人）\n/,
  );
  const completed = readEvents(stdout).find((event) => event.type === "tool.completed");
  expect(completed).toMatchObject({ result: { data: { type: "json", value: { results: [{ title: "Tests" }] } } } });
});

test("who may write: it asks, which without a person refuses; plan refuses; reading runs in every mode", async () => {
  for (const [mode, runs] of [
    ["ask", false],
    ["auto-edit", false],
    ["plan", false],
    ["auto", true],
    ["yolo", true],
  ] as const) {
    const place = newPlace();
    put(place.workDir, ".harness9/memory/a.md", "- deploy on Fridays\n");
    const note = { mode: "add", scope: "project", content: "x" };
    const server = await modelServer([toolCalls([write(note), read("deploy")]), openAIAnswer("Done.")]);
    await runProgram(["run", "--permission-mode", mode, "go"], { place, env: openAIEnv(server) });
    const results = bodyOf(server.requests[1])
      .messages.slice(-2)
      .map(({ content }) => content);
    expect([mode, results[0]?.startsWith("remembered 'x'"), results[1]?.includes("deploy on Fridays")]).toEqual([
      mode,
      runs,
      true,
    ]);
  }
});

test("memory: false takes the tools and their line out of the prompt", async () => {
  const names = async (place: Place): Promise<readonly [boolean, boolean]> => {
    const server = await modelServer([openAIAnswer("Hello.")]);
    await runProgram(["run", "go"], { place, env: openAIEnv(server) });
    const { tools, messages } = bodyOf(server.requests[0]);
    return [JSON.stringify(tools).includes("memory_read"), messages[0]?.content.includes("memory_read") ?? false];
  };
  const place = newPlace();
  expect(await names(place)).toEqual([true, true]);
  put(place.home, ".harness9/config.json", '{ "memory": false }');
  expect(await names(place)).toEqual([false, false]);
});

test("the rest of an instruction file that was cut can be read, as the prompt says, and no other file beside it", async () => {
  const place = newPlace();
  const path = put(place.home, ".harness9/AGENTS.md", `${"x".repeat(32_767)}\nthe rest\n`);
  const secret = put(place.home, ".harness9/config.json", "{}");
  const server = await modelServer([
    toolCalls([
      ["read_file", { path, offset: 2 }],
      ["read_file", { path: secret }],
    ]),
    openAIAnswer("Done."),
  ]);
  const { stderr } = await runProgram(["run", "go"], { place, env: openAIEnv(server) });
  expect(stderr).toContain(`only the first 32768 of 32777 bytes of ${path} count`);
  expect(bodyOf(server.requests[0]).messages[0]?.content).toContain(`read_file with path "${path}" and offset 2.]`);
  const [rest, refused] = bodyOf(server.requests[1]).messages.slice(-2);
  expect(rest?.content).toBe("the rest\n");
  expect(refused?.content).toContain("protected");
});

const open = async (place: Place) => {
  const surroundings = { env: { HOME: place.home }, cwd: place.workDir, homeDir: place.home };
  return chatMemory(await prepare(surroundings, { guard: true, session: true, outputFormat: "text" }));
};

test("the chat lists instruction files and memory with their sizes, also those that are not there yet", async () => {
  const place = newPlace();
  put(place.workDir, "AGENTS.md", "y".repeat(40_000));
  put(place.workDir, ".harness9/memory/old.md", "- é\n");
  put(place.home, MAIN, "- mine\n");
  const { files, instructionLimit, isOn } = await (await open(place)).list();
  expect([instructionLimit, isOn]).toEqual([32_768, true]);
  expect(files.map(({ kind, shown, bytes, shownBytes }) => [kind, shown, bytes, shownBytes])).toEqual([
    ["instructions", "~/.harness9/AGENTS.md", null, undefined],
    ["instructions", "AGENTS.md", 40_000, 32_768],
    ["memory", ".harness9/memory/old.md", 5, undefined],
    ["memory", ".harness9/memory/MEMORY.md", null, undefined],
    ["memory", "~/.harness9/memory/MEMORY.md", 7, undefined],
  ]);
});

test("a file that is opened is saved whole, in its own format, unless another program has changed it", async () => {
  const place = newPlace();
  const path = put(place.workDir, "AGENTS.md", "\ufeffold\r\n");
  const memory = await open(place);
  const { files } = await memory.list();
  const [missing, instructions] = files;
  if (!missing || !instructions) throw new Error("nothing is listed");
  expect(await memory.read(instructions)).toBe("old\r\n");
  await memory.save(instructions, "old\r\n", "new\r\n");
  expect(readFileSync(path, "utf8")).toBe("\ufeffnew\r\n");
  await expect(memory.save(instructions, "old\r\n", "lost")).rejects.toThrow("another program has changed AGENTS.md");
  expect(readFileSync(path, "utf8")).toBe("\ufeffnew\r\n");
  expect(await memory.read(missing)).toBe("");
  await memory.save(missing, "", "be brief\n");
  expect(readFileSync(join(place.home, ".harness9/AGENTS.md"), "utf8")).toBe("be brief\n");
  put(place.workDir, "AGENTS.md", new Uint8Array([0, 255]));
  await expect(memory.read(instructions)).rejects.toThrow("cannot open AGENTS.md: no text");
});

test("a memory file in the home keeps its encoding when it is saved", async () => {
  const place = newPlace();
  const path = put(place.home, MAIN, Buffer.from("\ufeff- old é\n", "utf16le"));
  const memory = await open(place);
  const file = (await memory.list()).files.find(({ path: one }) => one === path);
  if (!file) throw new Error("it is not listed");
  await memory.save(file, await memory.read(file), "- new é\n");
  expect(readFileSync(path, "utf16le")).toBe("\ufeff- new é\n");
});

test.each<[what: string, link: string, to: string]>([
  ["the file", ".harness9/memory/MEMORY.md", ".bashrc"],
  ["the folder", ".harness9/memory", "."],
  ["nothing", ".harness9/memory/MEMORY.md", "missing"],
])("of a project whose memory is a link to elsewhere (%s) no file is offered", async (_what, link, to) => {
  const place = newPlace();
  put(place.home, ".bashrc", "mine\n");
  mkdirSync(dirname(join(place.workDir, link)), { recursive: true });
  symlinkSync(join(place.home, to), join(place.workDir, link));
  const { files } = await (await open(place)).list();
  expect(files.map(({ shown }) => shown)).toEqual(["~/.harness9/AGENTS.md", "~/.harness9/memory/MEMORY.md"]);
});

// Only root can become somebody else, and only somebody else than root can be refused.
const NOBODY = 65_534;

test.runIf(process.getuid?.() === 0)(
  "a folder of the memory that may not be read is named, and the rest is searched",
  async () => {
    const place = newPlace();
    chmodSync(join(place.workDir, ".."), 0o755);
    put(place.workDir, ".harness9/memory/a.md", "- deploy on Fridays\n");
    put(place.workDir, ".harness9/memory/closed/b.md", "- deploy never\n");
    chmodSync(join(place.workDir, ".harness9/memory/closed"), 0o700);
    const server = await modelServer([toolCalls([read("deploy")]), openAIAnswer("Done.")]);
    await runProgram(["run", "go"], { place, env: openAIEnv(server), uid: NOBODY });
    expect(lastOf(server.requests[1])).toContain("deploy on Fridays");
    expect(lastOf(server.requests[1])).toContain("not read: .harness9/memory/closed: permission denied");
  },
);

test("several programs that remember at once lose nothing", async () => {
  const place = newPlace();
  const remember = async (n: number): Promise<number | null> => {
    const note = { mode: "add", scope: "user", title: `Note ${n}`, content: `text ${n}` };
    const server = await modelServer([toolCalls([write(note)]), openAIAnswer("Done.")]);
    return (await runProgram(["run", "remember"], { place, env: openAIEnv(server) })).exitCode;
  };
  expect(await Promise.all([1, 2, 3, 4].map(remember))).toEqual([0, 0, 0, 0]);
  const titles = readFileSync(join(place.home, MAIN), "utf8").match(/Note \d/g) ?? [];
  expect([...titles].sort()).toEqual(["Note 1", "Note 2", "Note 3", "Note 4"]);
});
