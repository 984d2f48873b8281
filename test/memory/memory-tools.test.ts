import { chmodSync, existsSync, mkdirSync, readFileSync, realpathSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { MemoryFolder } from "../../src/memory/memory-files.ts";
import { createMemoryRead } from "../../src/memory/memory-read.ts";
import { createMemoryWrite, MAX_CONTENT_BYTES } from "../../src/memory/memory-write.ts";
import { en } from "../../src/text/en.ts";
import { createMask } from "../../src/text/mask.ts";
import type { Strings } from "../../src/text/strings.ts";
import { zh } from "../../src/text/zh.ts";
import { Registry } from "../../src/tools/registry.ts";
import type { Tool } from "../../src/tools/tool.ts";
import { createPathLocks } from "../../src/tools/workspace/path-lock.ts";
import { put } from "../helpers/program.ts";
import { tempDir } from "../helpers/temp-dir.ts";

const CONTEXT = {
  signal: new AbortController().signal,
  emit: (() => undefined) as never,
  session: { id: "s", workDir: "/", model: "m" },
};

const open = (strings: Strings = zh) => {
  const root = realpathSync(tempDir());
  const home = join(root, "home", ".harness9");
  const project = join(root, "project");
  mkdirSync(home, { recursive: true });
  mkdirSync(project);
  const folders: readonly MemoryFolder[] = [
    { scope: "project", dir: join(project, ".harness9", "memory"), shown: ".harness9/memory", within: project },
    { scope: "user", dir: join(home, "memory"), shown: "~/.harness9/memory", within: join(home, "memory") },
  ];
  const mask = createMask(new Map([["OPENAI_API_KEY", "secret-value-123"]]));
  const takeTurn = async () => () => undefined;
  const tools = {
    memory_read: createMemoryRead({ folders, strings }) as Tool,
    memory_write: createMemoryWrite({ folders, locks: createPathLocks(), takeTurn, mask, strings }) as Tool,
  };
  const registry = new Registry({ strings: strings.registry });
  for (const tool of Object.values(tools)) registry.register(tool);
  const call = async (name: keyof typeof tools, args: unknown) => {
    const made = { id: "c", name, arguments: JSON.stringify(args) };
    const { output, isError, data } = await registry.execute(made, { ...CONTEXT, call: made });
    return { output, isError, data };
  };
  const read = (path: string): string => readFileSync(join(root, path), "utf8");
  return { root, home, project, tools, call, read };
};

const MAIN = "home/.harness9/memory/MEMORY.md";
const OURS = "project/.harness9/memory/MEMORY.md";

test("what was written is found, in the format that the documents have", async () => {
  const { call, root } = open();
  await call("memory_write", { mode: "add", scope: "user", title: "部署流程", content: "先跑测试\n再部署" });
  put(join(root, "project/.harness9/memory"), "notes.md", "- 部署前看一下\n");
  expect(await call("memory_read", { query: "部署流程" })).toEqual({
    isError: false,
    output: `找到 2 个相关结果：
- 部署流程
  相关度：高相关 | 匹配类型：关键词匹配
  位置：~/.harness9/memory/MEMORY.md:3-6（个人）
  | ## 部署流程
  |
  | 先跑测试
  | 再部署
- 部署前看一下
  相关度：低相关 | 匹配类型：关键词匹配
  位置：.harness9/memory/notes.md:1-1（项目）
  | - 部署前看一下`,
    data: {
      type: "json",
      value: {
        results: [
          {
            title: "部署流程",
            file: "~/.harness9/memory/MEMORY.md",
            firstLine: 3,
            lastLine: 6,
            scope: "user",
            score: 1,
            relevance: "高相关",
            matchType: "关键词匹配",
            text: "## 部署流程\n\n先跑测试\n再部署",
          },
          expect.objectContaining({ title: "部署前看一下", scope: "project" }),
        ],
      },
    },
  });
});

test("an empty query is an error, and finding nothing is not", async () => {
  const { call, root } = open();
  expect(await call("memory_read", { query: " \n" })).toMatchObject({ isError: true, output: "查询词不能为空" });
  expect(await call("memory_read", { query: "x" })).toMatchObject({
    isError: false,
    output: "未找到相关结果：还没有任何记忆",
  });
  put(join(root, "home/.harness9/memory"), "a.md", "- tabs\n");
  expect(await call("memory_read", { query: "kubernetes" })).toMatchObject({
    isError: false,
    output: "未找到相关结果：1 条记忆中没有与 'kubernetes' 相关的内容",
    data: { type: "json", value: { results: [] } },
  });
});

test("a folder is read up to 1 MiB, and what was not is said", async () => {
  const { call, root } = open(en);
  const dir = join(root, "project/.harness9/memory");
  for (const name of ["a", "b", "c", "d", "e", "f"]) put(dir, `${name}.md`, `- ${name} ${"x".repeat(200_000)}\n`);
  const { output } = await call("memory_read", { query: "deploy" });
  expect(output.split("\n").slice(1)).toEqual([
    "not read: .harness9/memory/f.md: the folder's files are larger than 1048576 bytes together; nor were those after it",
  ]);
});

test("limit says how many, and the rest is counted", async () => {
  const { call, root } = open(en);
  put(join(root, "home/.harness9/memory"), "a.md", "- deploy one\n- deploy two\n- deploy three\n");
  const { output } = await call("memory_read", { query: "deploy", limit: 2 });
  expect(output.split("\n")[0]).toBe("3 entries found, the first 2:");
});

test("hidden characters in a file are made visible", async () => {
  const { call, root } = open(en);
  put(join(root, "project/.harness9/memory"), "a.md", "## Deploy\u202e\nde\u200bploy \u001b[2J\n");
  const { output } = await call("memory_read", { query: "deploy" });
  expect(output).toContain("- Deploy\\u{202e}\n");
  expect(output).toContain("  | de\\u{200b}ploy \\u{1b}[2J");
});

test("files that are too large, no text, or elsewhere are named and not read", async () => {
  const { call, root } = open(en);
  const dir = join(root, "project/.harness9/memory");
  put(root, "secret.md", "deploy hunter2");
  put(root, "project/.env", "deploy hunter2");
  put(dir, "a.md", "- deploy\n");
  put(dir, "big.md", "deploy ".repeat(50_000));
  put(dir, "bytes.md", new Uint8Array([0, 1, 2]));
  symlinkSync(join(root, "secret.md"), join(dir, "link.md"));
  symlinkSync(join("..", "..", ".env"), join(dir, "more.md"));
  mkdirSync(join(dir, "folder.md"));
  const { output } = await call("memory_read", { query: "deploy" });
  expect(output).not.toContain("hunter2");
  expect(output.split("\n").filter((line) => line.startsWith("not read"))).toEqual([
    "not read: .harness9/memory/big.md: larger than 262144 bytes",
    "not read: .harness9/memory/bytes.md: no text",
    "not read: .harness9/memory/folder.md: '.harness9/memory/folder.md' is a directory, not a file; use ls through bash to list it",
    "not read: .harness9/memory/link.md: a link that leads out of the folder",
    "not read: .harness9/memory/more.md: a link that leads out of the folder",
  ]);
});

test.each(["elsewhere", "project/docs"])(
  "a memory folder that is a link, to %s, is neither read nor written",
  async (target) => {
    const { call, root, project } = open(en);
    put(root, `${target}/a.md`, "- deploy hunter2\n");
    mkdirSync(join(project, ".harness9"));
    symlinkSync(join(root, target), join(project, ".harness9", "memory"));
    expect((await call("memory_read", { query: "deploy" })).output).not.toContain("hunter2");
    const written = await call("memory_write", { mode: "add", scope: "project", content: "x" });
    expect(written).toMatchObject({ isError: true });
    expect(existsSync(join(root, target, "MEMORY.md"))).toBe(false);
  },
);

test("add, update and remove change their entry alone, and the answer names the place", async () => {
  const { call, read, root } = open(en);
  const write = async (args: object) => (await call("memory_write", { scope: "project", ...args })).output;
  put(root, OURS, "# Ours\r\n\r\nby hand\r\n\r\n## Kept  \r\n* as   it is\r\n");
  expect(await write({ mode: "add", title: "Tests", content: "npm test" })).toBe(
    "remembered 'Tests': .harness9/memory/MEMORY.md:8-10",
  );
  expect(await write({ mode: "update", title: "tests", content: "npm run test\nalone" })).toBe(
    "updated 'Tests': .harness9/memory/MEMORY.md:8-11",
  );
  expect(read(OURS)).toBe(
    "# Ours\r\n\r\nby hand\r\n\r\n## Kept  \r\n* as   it is\r\n\r\n## Tests\r\n\r\nnpm run test\r\nalone\r\n",
  );
  expect(await write({ mode: "remove", title: "TESTS:" })).toBe("removed 'Tests' from .harness9/memory/MEMORY.md");
  expect(await write({ mode: "remove", title: "by hand" })).toBe("removed 'by hand' from .harness9/memory/MEMORY.md");
  expect(read(OURS)).toBe("# Ours\r\n\r\n## Kept  \r\n* as   it is\r\n\r\n");
});

test("what is in the home is private, also where it was not", async () => {
  const { call, root } = open(en);
  await call("memory_write", { mode: "add", scope: "user", content: "one" });
  expect(statSync(join(root, MAIN)).mode & 0o777).toBe(0o600);
  expect(statSync(join(root, "home/.harness9/memory")).mode & 0o777).toBe(0o700);
  chmodSync(join(root, MAIN), 0o644);
  await call("memory_write", { mode: "add", scope: "user", content: "two" });
  expect(statSync(join(root, MAIN)).mode & 0o777).toBe(0o600);
});

test("the same again changes nothing, and another text under a title that is taken is refused", async () => {
  const { call, read } = open(en);
  const add = (args: object) => call("memory_write", { mode: "add", scope: "user", ...args });
  await add({ title: "A", content: "one" });
  await add({ content: "loose" });
  const before = read(MAIN);
  for (const args of [{ title: "a", content: "one" }, { content: "loose" }])
    expect((await add(args)).output).toMatch(/^remembered already, nothing changed: /);
  expect(await add({ title: "A", content: "two" })).toMatchObject({
    isError: true,
    output: `'A' is there already (~/.harness9/memory/MEMORY.md:5-7). Replace it with mode "update"`,
  });
  expect(read(MAIN)).toBe(before);
});

test.each<[args: object, output: string | RegExp]>([
  [{ mode: "add", content: " \n" }, "the content must not be empty"],
  [{ mode: "add" }, "the content must not be empty"],
  [{ mode: "add", content: "x".repeat(MAX_CONTENT_BYTES + 1) }, /^the content is too long: 8193 bytes/],
  [{ mode: "add", content: `key sk-${"a1".repeat(12)}` }, /looks as if it held a key/],
  [{ mode: "add", title: `ghp_${"a1".repeat(12)}`, content: "x" }, /looks as if it held a key/],
  [{ mode: "add", title: "a\nb", content: "x" }, /^a title is one line/],
  [{ mode: "add", title: "\u202eevil", content: "x" }, /^a title is one line/],
  [{ mode: "add", title: "…", content: "x" }, /^a title is one line/],
  [{ mode: "add", title: "t".repeat(81), content: "x" }, /^a title is one line/],
  [{ mode: "add", title: "T", content: "a\n## Z\nb" }, /^not saved: other entries/],
  [{ mode: "add", title: "T", content: "```\nopen" }, /^remembered 'T'/],
  [
    { mode: "add", title: "../../.bashrc", content: "x" },
    "remembered '../../.bashrc': ~/.harness9/memory/MEMORY.md:3-5",
  ],
  [{ mode: "update", content: "x" }, "update and remove need a title"],
  [{ mode: "update", title: "gone", content: "x" }, "nothing is remembered under 'gone'"],
  [{ mode: "remove" }, "update and remove need a title"],
  [{ mode: "remove", title: "x", content: "y" }, "remove takes no content"],
  [{ mode: "forget", title: "x" }, /mode/],
  [{ mode: "add", content: "x", scope: "team" }, /scope/],
  [{ mode: "add", content: "x", path: "/etc/passwd" }, /path/],
])("%j answers %s", async (args, output) => {
  const { call } = open(en);
  const result = await call("memory_write", { scope: "user", ...args });
  if (typeof output === "string") expect(result.output).toBe(output);
  else expect(result.output).toMatch(output);
  expect(result.isError).toBe(!result.output.startsWith("remembered"));
});

test("a wrong title is answered with near ones, and one that two entries have with their places", async () => {
  const { call, root } = open(en);
  put(root, MAIN, "## Deploy steps\nx\n\n## Twice\na\n\n## Twice\nb\n");
  const update = async (title: string) =>
    (await call("memory_write", { mode: "update", scope: "user", title, content: "x" })).output;
  expect(await update("deploy")).toBe("nothing is remembered under 'deploy'. Near titles: 'Deploy steps'");
  expect(await update("twice")).toBe(
    "2 entries have the title 'Twice': ~/.harness9/memory/MEMORY.md:4-5, ~/.harness9/memory/MEMORY.md:7-8. The person should tidy the file".replace(
      "'Twice'",
      "'twice'",
    ),
  );
});

test("values of known keys are masked before anything is shown or written", async () => {
  const { call, read, tools } = open(en);
  const args = { mode: "add", scope: "user", title: "Key", content: "it is secret-value-123" };
  expect(JSON.stringify(await tools.memory_write.preview?.(args))).not.toContain("secret-value-123");
  await call("memory_write", args);
  expect(read(MAIN)).toBe("# Memory\n\n## Key\n\nit is [masked OPENAI_API_KEY]\n");
});

test("a file that cannot be read is not written over", async () => {
  const { call, root } = open(en);
  const bytes = new Uint8Array([0xff, 0x00, 0x41]);
  put(root, MAIN, bytes);
  expect(await call("memory_write", { mode: "add", scope: "user", content: "x" })).toMatchObject({
    output: "cannot write ~/.harness9/memory/MEMORY.md: it is there, and cannot be read; the person should look at it",
    isError: true,
  });
  expect(new Uint8Array(readFileSync(join(root, MAIN)))).toEqual(bytes);
});

test("a question shows the entry as it would be, and what a person makes of it is a call again", async () => {
  const { tools, root } = open(en);
  put(root, MAIN, "## A\nold\n");
  const args = { mode: "update", scope: "user", title: "a", content: "new" };
  expect(await tools.memory_write.preview?.(args)).toMatchObject({
    type: "diff",
    path: "~/.harness9/memory/MEMORY.md › A",
    hunks: [{ lines: ["-old", "+new"] }],
  });
  const proposal = await tools.memory_write.proposal?.(args);
  expect([
    proposal?.before,
    proposal?.text,
    proposal?.with("mine\n"),
    proposal?.with(" "),
    proposal?.with("old"),
  ]).toEqual(["old", "new", { ...args, content: "mine\n" }, undefined, undefined]);
  expect(await tools.memory_write.preview?.({ ...args, title: "gone" })).toBeUndefined();
});

test("many at once are all kept", async () => {
  const { call, read } = open(en);
  await Promise.all(
    Array.from({ length: 10 }, (_, n) => call("memory_write", { mode: "add", scope: "user", content: `fact ${n}` })),
  );
  expect(read(MAIN).split("\n- ").length).toBe(11);
});

test.each([
  ["- a\n- b\n", "b", "- a\n- new\n"],
  ["1. a\n2. b\n", "a", "1. new\n2. b\n"],
  ["- [ ] a\n- [x] b\n", "b", "- [ ] a\n- new\n"],
  ["first\n\nsecond\n", "first", "new\n\nsecond\n"],
  ["> a\n\n## B\nx\n", "a", "new\n\n## B\nx\n"],
])("of %j the entry %s without a heading gets another text", async (before, title, after) => {
  const { call, read, root } = open(en);
  put(root, MAIN, before);
  const args = { mode: "update", scope: "user", title, content: "new" };
  expect(await call("memory_write", args)).toMatchObject({ isError: false });
  expect(read(MAIN)).toBe(after);
});

test.each([
  ["### a ###", "a"],
  ["F #", "F"],
  ["C#", "C#"],
])("the title %j is kept as %s", async (title, kept) => {
  const { call, read } = open(en);
  await call("memory_write", { mode: "add", scope: "user", title, content: "x" });
  expect(read(MAIN)).toBe(`# Memory\n\n## ${kept}\n\nx\n`);
});

test("a text that nobody can see is empty", async () => {
  const { call } = open(en);
  const args = { mode: "add", scope: "user", content: "\u200b \u2060" };
  expect(await call("memory_write", args)).toMatchObject({ isError: true });
});
