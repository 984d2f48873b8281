import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { callTool, failureOf } from "../../helpers/call-tool.ts";
import { fileTools } from "../../helpers/file-tools.ts";
import { tempDir } from "../../helpers/temp-dir.ts";

const setUp = (content?: string | Buffer) => {
  const dir = tempDir();
  if (content !== undefined) writeFileSync(join(dir, "f"), content);
  const { editFile, locks } = fileTools(dir);
  const argumentsFor = (source: string, target: string) => ({ path: "f", source_text: source, target_text: target });
  return {
    dir,
    editFile,
    locks,
    edit: (source: string, target: string) => callTool(editFile, argumentsFor(source, target)),
    kind: (source: string, target: string) => failureOf(editFile, argumentsFor(source, target)),
    bytes: () => readFileSync(join(dir, "f")),
  };
};

describe("the answer", () => {
  it("of an exact match is one line, with the diff for a UI", async () => {
    const { edit, locks } = setUp("1\n2\n3\n4\n5\n6\n7\n8\n9\n");
    expect(await edit("5", "five\nmore")).toEqual({
      toolCallId: "call_1",
      name: "edit_file",
      output: "成功修改文件: f",
      isError: false,
      data: {
        type: "diff",
        path: "f",
        hunks: [
          {
            oldStart: 2,
            oldLines: 7,
            newStart: 2,
            newLines: 8,
            lines: [" 2", " 3", " 4", "-5", "+five", "+more", " 6", " 7", " 8"],
          },
        ],
        added: 2,
        removed: 1,
      },
    });
    expect(locks.size).toBe(0);
  });

  it("of a lenient match names the level and the lines", async () => {
    expect((await setUp("x\n  a\n  b\n").edit("a\nb", "c\nd\ne")).output).toBe(
      "成功修改文件: f\n匹配级别: L4（逐行忽略缩进，已按文件的缩进对齐），第 2-4 行；请确认结果符合预期。",
    );
    expect((await setUp("a\r\nb\r\n").edit("a\nb\n", "c\nd\n")).output).toContain("L2（换行符归一化），第 1-2 行");
    expect((await setUp("a\n").edit("a  ", "b  ")).output).toContain("L3（忽略首尾空白），第 1-1 行");
  });

  it("of several matches counts them and names their lines", async () => {
    const { edit, bytes } = setUp("x = 1\ny\nx = 1\n");
    expect((await edit("x = 1", "x = 2")).output).toBe(
      "source_text 匹配到了 2 处，请提供更多的上下文代码以确保唯一性\n匹配位置（行号）: 1, 3",
    );
    expect(bytes().toString()).toBe("x = 1\ny\nx = 1\n");
    expect((await setUp(" a\n b\n  a\n  b\n").edit("a\nb", "c")).output).toBe(
      "模糊匹配到了 2 处代码，请提供更多上下文以定位\n匹配位置（行号）: 1, 3",
    );
    expect((await setUp("ab\n".repeat(40)).edit("b\n", "c\n")).output).toContain("40 处");
    expect((await setUp("ab\n".repeat(40)).edit("b\n", "c\n")).output).toMatch(/9, 10, …$/);
    expect((await setUp("a".repeat(20_000)).edit("a", "b")).output).toContain("10000+ 处");
  });

  it("of no match shows the nearest block and what differs in it", async () => {
    const { edit } = setUp("one\nif (a) {\n\tfoo(\u00a01);\r\n}\nlast\n");
    expect((await edit("if (a) {\n    foo( 1);\n}", "x")).output).toBe(
      [
        "在文件中未找到 source_text，请检查内容和缩进",
        "最接近的是第 2-4 行（- 为文件内容，+ 为 source_text，· 为空格，→ 为制表符，␍ 为回车）:",
        "  2| if (a) {",
        "- 3| →foo(\\u{a0}1);",
        "+  | ····foo(·1);",
        "  4| }",
      ].join("\n"),
    );
  });

  it("of no match shows a line that is nearly the one, escaped, and only around the difference", async () => {
    const { edit } = setUp(`a\nconst Foo = 1;\u001b[2J\n${"x".repeat(5000)}Y${"z".repeat(5000)}\n`);
    expect((await edit("const foo = 1;", "x")).output).toContain("- 2| const·Foo·=·1;\\u{1b}[2J\n+  | const·foo·=·1;");
    const long = (await edit(`${"x".repeat(5000)}y${"z".repeat(5000)}`, "x")).output;
    expect(long).toContain(`- 3| …${"x".repeat(80)}Y${"z".repeat(79)}…`);
    expect(long.length).toBeLessThan(1000);
  });

  it("of no match shows what cannot be seen by its code, and what the file is too short for", async () => {
    expect((await setUp("cafe\u0301 = 1;\n").edit("café = 1;", "x")).output).toContain(
      "- 1| cafe\\u{301}·=·1;\n+  | caf\\u{e9}·=·1;",
    );
    expect((await setUp("va\u200blue = 1;\n").edit("value = 1;", "x")).output).toContain(
      "- 1| va\\u{200b}lue·=·1;\n+  | value·=·1;",
    );
    expect((await setUp("first();\nlast();\n").edit("last();\nmore();", "x")).output).toMatch(
      /第 2-2 行.*:\n {2}2\| last\(\);\n\+ {2}\| more\(\);$/,
    );
  });

  it("of no match hints at line numbers, and says nothing of blocks where nothing is near", async () => {
    expect((await setUp("const b = 2;\n").edit("     2→const b = 2;", "x")).output).toContain("行号");
    expect((await setUp("hello\n").edit("zzzzzzzz", "x")).output).toBe("在文件中未找到 source_text，请检查内容和缩进");
    expect((await setUp("").edit("x", "y")).output).toBe("在文件中未找到 source_text，请检查内容和缩进\n文件为空。");
  });

  it("comes soon for a miss in a large file", async () => {
    const { edit } = setUp(`${"    const value = compute(a, b, c);\n".repeat(140_000)}end\n`);
    const started = performance.now();
    expect((await edit("const value = compute(a, b, d);\nconst x = 1;", "x")).isError).toBe(true);
    expect(performance.now() - started).toBeLessThan(5000);
  });
});

describe("refusing", () => {
  it("names its kind, and touches nothing", async () => {
    const { dir, kind, editFile, bytes } = setUp("text\n");
    mkdirSync(join(dir, "folder"));
    execFileSync("mkfifo", [join(dir, "pipe")]);
    const { mtimeMs } = statSync(join(dir, "f"));
    expect([await kind("", "x"), await kind(" \n", "x"), await kind("text", "text"), await kind("none", "x")]).toEqual([
      "empty-source",
      "empty-source",
      "no-change",
      "not-found",
    ]);
    expect([await kind("t\ud83d", "x"), await kind("text", "\udc00")]).toEqual(["bad-argument", "bad-argument"]);
    const other = (path: string) => failureOf(editFile, { path, source_text: "a", target_text: "b" });
    expect([
      await other("folder"),
      await other("pipe"),
      await other("no/such"),
      await other("../x"),
      await other(".git/config"),
    ]).toEqual(["is-directory", "special-file", "file-not-found", "outside", "protected"]);
    expect([bytes().toString(), statSync(join(dir, "f")).mtimeMs, readdirSync(dir).sort()]).toEqual([
      "text\n",
      mtimeMs,
      ["f", "folder", "pipe"],
    ]);
  });

  it("a missing file suggests near names", async () => {
    const { editFile } = setUp("x");
    expect((await callTool(editFile, { path: "F", source_text: "a", target_text: "b" })).output).toBe(
      "读取文件失败，请确认路径是否正确: 文件 'F' 不存在\n相近的路径: f",
    );
  });

  it("a read-only file and a link that leads outside stay as they are", async () => {
    const { dir, kind, bytes } = setUp("old\n");
    chmodSync(join(dir, "f"), 0o444);
    expect([await kind("old", "new"), bytes().toString()]).toEqual(["read-only", "old\n"]);
    const root = tempDir();
    mkdirSync(join(root, "work"));
    writeFileSync(join(root, "victim.txt"), "old\n");
    symlinkSync("../victim.txt", join(root, "work", "f"));
    const { editFile } = fileTools(join(root, "work"));
    expect(await failureOf(editFile, { path: "f", source_text: "old", target_text: "new" })).toBe("outside");
    expect(readFileSync(join(root, "victim.txt"), "utf8")).toBe("old\n");
  });

  it("an argument that the tool does not have is named", async () => {
    const { editFile } = setUp("a a\n");
    const result = await callTool(editFile, { path: "f", source_text: "a", target_text: "b", replace_all: true });
    expect(result.isError).toBe(true);
    expect(result.output).toContain("replace_all");
  });
});

describe("encodings", () => {
  it("a byte order mark stays, also where the source has it", async () => {
    const { edit, bytes } = setUp("\ufeffusing A;\n");
    await edit("\ufeffusing A;", "using B;");
    expect(bytes().toString()).toBe("\ufeffusing B;\n");
    await edit("using B;", "\ufeffusing C;");
    expect(bytes().toString()).toBe("\ufeffusing C;\n");
    await edit("using C;\n", "");
    expect(bytes().toString()).toBe("\ufeff");
  });

  it("UTF-16 stays UTF-16", async () => {
    const text = "\ufeffname = 旧\r\nend\r\n";
    for (const swap of [false, true]) {
      const encode = (value: string) => (swap ? Buffer.from(value, "utf16le").swap16() : Buffer.from(value, "utf16le"));
      const { edit, bytes } = setUp(encode(text));
      await edit("name = 旧\nend", "name = 新🚀\nend");
      expect(bytes()).toEqual(encode("\ufeffname = 新🚀\r\nend\r\n"));
    }
  });

  it.each([
    ["Latin-1", Buffer.from("caf\xe9\nold\n", "latin1")],
    ["GBK", Buffer.from([0xc4, 0xe3, 0x0a, 0x6f, 0x6c, 0x64])],
    ["Shift-JIS", Buffer.from([0x83, 0x65, 0x0a, 0x6f, 0x6c, 0x64])],
    ["an overlong form", Buffer.from([0xc0, 0xaf, 0x0a, 0x6f, 0x6c, 0x64])],
    ["a surrogate in UTF-8", Buffer.from([0xed, 0xa0, 0x80, 0x0a, 0x6f, 0x6c, 0x64])],
    ["UTF-16 without a mark", Buffer.from("old", "utf16le")],
    ["half a UTF-16 character", Buffer.from([0xff, 0xfe, 0x3d, 0xd8, 0x6f, 0x00])],
  ])("%s is refused and not touched", async (_, content) => {
    const { kind, bytes } = setUp(content);
    expect([await kind("old", "new"), bytes()]).toEqual(["not-text", content]);
  });

  it("a U+FFFD that is in the file is text like any other", async () => {
    const { edit, bytes } = setUp("\ufffd old\n");
    await edit("old", "new");
    expect(bytes().toString()).toBe("\ufffd new\n");
  });
});

it("the bytes around the match stay, whatever they are", async () => {
  const text = fc.string({
    unit: fc.constantFrom("a", " ", "\t", "\n", "\r\n", "\r", "é", "你", "👩‍💻", "\u3000", "\ufeff", "\0x"),
  });
  await fc.assert(
    fc.asyncProperty(text, text, text, async (before, after, target) => {
      const content = Buffer.from(`#\n${before}<<MARK>>${after}`.replaceAll("\0", ""));
      const { edit, bytes } = setUp(content);
      const wanted = `(${target.replaceAll("\0", "").replace(/\s/g, "")})`;
      expect((await edit("<<MARK>>", wanted)).isError).toBe(false);
      expect(bytes()).toEqual(Buffer.from(content.toString().split("<<MARK>>").join(wanted)));
    }),
    { numRuns: 60 },
  );
});

it("edits of one file at the same time all arrive", async () => {
  const { edit, bytes, locks } = setUp(Array.from({ length: 10 }, (_, index) => `line-${index};\n`).join(""));
  await Promise.all(Array.from({ length: 10 }, (_, index) => edit(`line-${index};`, `done-${index};`)));
  expect(bytes().toString()).toBe(Array.from({ length: 10 }, (_, index) => `done-${index};\n`).join(""));
  expect(locks.size).toBe(0);
});

it("a preview is the diff, and changes nothing", async () => {
  const { editFile, edit, bytes } = setUp("a\nb\n");
  const preview = async (source: string) =>
    editFile.preview?.(editFile.parse({ path: "f", source_text: source, target_text: "c" }));
  const asked = await preview("b");
  expect(bytes().toString()).toBe("a\nb\n");
  expect(asked).toEqual((await edit("b", "c")).data);
  expect(await preview("nothing")).toBeUndefined();
});
