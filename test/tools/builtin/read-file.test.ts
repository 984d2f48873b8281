import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import { callTool, failureOf } from "../../helpers/call-tool.ts";
import { fileTools } from "../../helpers/file-tools.ts";
import { tempDir } from "../../helpers/temp-dir.ts";

const setUp = (files: Record<string, string | Buffer> = {}, maxReadBytes = 4096) => {
  const dir = tempDir();
  for (const [name, content] of Object.entries(files)) writeFileSync(join(dir, name), content);
  const { readFile, locks } = fileTools(dir, { maxReadBytes });
  const read = async (args: unknown): Promise<string> => (await callTool(readFile, args)).output;
  return { dir, read, readFile, locks };
};

describe("the text", () => {
  it("is the file's as it is, with what a UI shows of it", async () => {
    const text = "a\r\n\tb  \nc\rd\n\u001b[31mé👩‍💻";
    const { readFile, locks } = setUp({ "f.txt": text });
    expect(await callTool(readFile, { path: "f.txt" })).toEqual({
      toolCallId: "call_1",
      name: "read_file",
      output: text,
      isError: false,
      data: { type: "file", path: "f.txt", bytes: Buffer.byteLength(text), lines: 4 },
    });
    expect(locks.size).toBe(0);
  });

  it("comes without its byte order mark, from UTF-8 and UTF-16", async () => {
    const text = "line 1\r\n你好\n";
    const little = Buffer.from(`\ufeff${text}`, "utf16le");
    const { read } = setUp({ utf8: `\ufeff${text}`, little, big: Buffer.from(little).swap16(), "only-bom": "\ufeff" });
    expect([await read({ path: "utf8" }), await read({ path: "little" }), await read({ path: "big" })]).toEqual(
      Array(3).fill(text),
    );
    expect(await read({ path: "only-bom" })).toBe("[文件为空: only-bom]");
  });

  it("begins at offset and has limit lines", async () => {
    const { read } = setUp({ f: "1\n2\n3\n4" });
    expect([
      await read({ path: "f", offset: 2, limit: 2 }),
      await read({ path: "f", offset: 3 }),
      await read({ path: "f", limit: 1 }),
      await read({ path: "f", offset: 4, limit: 9 }),
      await read({ path: "f", limit: 4 }),
    ]).toEqual(["2\n3\n", "3\n4", "1\n", "4", "1\n2\n3\n4"]);
  });

  it("is found far into a file, over the borders of what is read at once", async () => {
    const lines = Array.from({ length: 30_000 }, (_, index) => `${index + 1} ${"é".repeat(index % 7)}\n`);
    const utf16 = Buffer.from(`\ufeff${lines.join("")}`, "utf16le");
    const { read } = setUp({ utf8: lines.join(""), utf16 });
    for (const path of ["utf8", "utf16"]) {
      expect(await read({ path, offset: 29_998 })).toBe(lines.slice(29_997).join(""));
      expect(await read({ path, offset: 12_345, limit: 3 })).toBe(lines.slice(12_344, 12_347).join(""));
    }
  });

  it("an empty file and an offset past the end have an outcome of their own", async () => {
    const { read, readFile } = setUp({ empty: "", two: "a\nb\n" });
    expect(await read({ path: "empty" })).toBe("[文件为空: empty]");
    expect(await read({ path: "two", offset: 3 })).toBe("[offset=3 超出文件总行数（2 行），无内容可读。]");
    expect((await callTool(readFile, { path: "two", offset: 99 })).isError).toBe(false);
    expect(await read({ path: "two", offset: 2 })).toBe("b\n");
  });

  it("offset and limit are whole numbers from 1", async () => {
    const { readFile } = setUp({ f: "a" });
    for (const args of [{ offset: 0 }, { offset: -1 }, { limit: 0 }, { offset: 1.5 }, { limit: "2" }])
      expect(await callTool(readFile, { path: "f", ...args })).toMatchObject({ isError: true });
  });
});

describe("a cut", () => {
  it("falls on the limit, and names the line to go on from", async () => {
    const { read } = setUp({ f: "12345\n789\nabc\n" }, 10);
    expect(await read({ path: "f" })).toBe(
      "12345\n789\n\n\n...[内容过长，已截断至前 10 字节]...\n[如需继续，请使用 offset=3]",
    );
    expect(await read({ path: "f", offset: 3 })).toBe("abc\n");
  });

  it("in the middle of a line names that line", async () => {
    const { readFile } = setUp({ f: "12345\n789\nabc\n" }, 8);
    expect(await callTool(readFile, { path: "f" })).toMatchObject({
      output: "12345\n78\n\n...[内容过长，已截断至前 8 字节]...\n[如需继续，请使用 offset=2]",
      data: { bytes: 8, lines: 2, truncated: true },
    });
  });

  it("does not happen to a file of exactly the limit", async () => {
    const { read } = setUp({ f: "x".repeat(4096), g: "x".repeat(4097) });
    expect(await read({ path: "f" })).toBe("x".repeat(4096));
    expect(await read({ path: "g" })).toContain("已截断至前 4096 字节");
  });

  it.each([
    [100, "你好世界", 12],
    [12, "你好世界", 12],
    [11, "你好世界", 9],
    [9, "你好世界", 9],
    [7, "你好世界", 6],
    [3, "你好世界", 3],
    [2, "你好世界", 0],
    [5, "abcdefghij", 5],
    [6, "ab👩‍💻", 6],
    [5, "ab👩‍💻", 2],
  ])("at %i bytes of %s keeps %i", async (limit, text, bytes) => {
    const { readFile } = setUp({ f: text }, limit);
    const result = await callTool(readFile, { path: "f" });
    expect(result.data).toMatchObject({ bytes });
    expect(result.output).not.toContain("\ufffd");
    if (bytes < Buffer.byteLength(text)) expect(result.output).toContain(`已截断至前 ${bytes} 字节`);
  });

  it("of one long line names a command that shows the next part", async () => {
    const line = `${"é".repeat(6000)}end`;
    const { dir, read } = setUp({ "it's $x": `first\n${line}\nlast\n` });
    const output = await read({ path: "it's $x", offset: 2 });
    const command = /请用 bash 查看: (.*)；其后的行请使用 offset=3\]$/.exec(output)?.[1];
    expect(command).toBe("sed -n '2{p;q}' 'it'\\''s $x' | cut -b 4097-11096");
    const rest = execFileSync("bash", ["-c", command ?? ""], { cwd: dir, encoding: "utf8" });
    expect(output.slice(0, 2048) + rest).toBe(`${line.slice(0, 5548)}\n`);
    expect(await read({ path: "it's $x", offset: 3 })).toBe("last\n");
  });

  it("of one long line in UTF-16 names a command that decodes it", async () => {
    const { dir, read } = setUp({ f: Buffer.from(`\ufeffa\n${"x".repeat(5000)}END\n`, "utf16le") });
    const command = /请用 bash 查看: (.*)；/.exec(await read({ path: "f", offset: 2 }))?.[1];
    expect(execFileSync("bash", ["-c", command ?? ""], { cwd: dir, encoding: "utf8" })).toBe(`${"x".repeat(904)}END\n`);
  });

  it("reads no more of a huge file than it shows", async () => {
    const { dir, read } = setUp({ huge: "x\n".repeat(5000) });
    truncateSync(join(dir, "huge"), 20_000_000_000);
    expect(await read({ path: "huge" })).toContain("offset=2049");
    expect(await read({ path: "huge", offset: 4000, limit: 2 })).toBe("x\nx\n");
  });

  it("the parts of a file, read one after the other, are the file", async () => {
    const line = fc.string({ unit: fc.constantFrom("a", "é", "你", "👩", " "), maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(fc.array(line, { minLength: 1, maxLength: 20 }), async (lines) => {
        const text = lines.join("\n");
        const { read } = setUp({ f: text }, 40);
        let joined = "";
        for (let offset = 1; ; ) {
          const output = await read({ path: "f", offset });
          const next = /offset=(\d+)\]$/.exec(output)?.[1];
          const body = output.replace(/\n\n\.\.\.\[[^\]]*\]\.\.\.\n\[[^\]]*\]$/, "");
          if (/^\[(offset|文件为空)/.test(output)) break;
          joined += next ? body.slice(0, body.lastIndexOf("\n") + 1) : body;
          if (!next) break;
          offset = Number(next);
        }
        expect(joined).toBe(text);
      }),
      { numRuns: 50 },
    );
  });
});

describe("what is no text", () => {
  it("is refused with its type and size", async () => {
    const png = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex");
    const { readFile, read } = setUp({ "a.png": png, nul: "a\0b", latin: Buffer.from("caf\xe9\n", "latin1") });
    expect(await read({ path: "a.png" })).toBe("'a.png' 是二进制文件（类型: PNG，16 字节），不能按文本读取");
    expect(await read({ path: "nul" })).toBe("'nul' 是二进制文件（类型: 未知，3 字节），不能按文本读取");
    expect(await read({ path: "latin" })).toContain("不是有效的 UTF-8");
    for (const path of ["a.png", "nul", "latin"]) expect(await failureOf(readFile, { path })).toBe("not-text");
  });

  it("half a character at the end, half a UTF-16 unit, UTF-32", async () => {
    const { readFile } = setUp({
      cut: Buffer.from("你好").subarray(0, 5),
      odd: Buffer.from([0xff, 0xfe, 0x41, 0x00, 0x42]),
      half: Buffer.from([0xff, 0xfe, 0x3d, 0xd8]),
      utf32: Buffer.from([0xff, 0xfe, 0, 0, 0x41, 0, 0, 0]),
    });
    for (const path of ["cut", "odd", "half", "utf32"]) expect(await failureOf(readFile, { path })).toBe("not-text");
  });

  it("a text that begins like a binary file is text", async () => {
    const { read } = setUp({ a: "MZ is a name\n", b: "BM\n" });
    expect([await read({ path: "a" }), await read({ path: "b" })]).toEqual(["MZ is a name\n", "BM\n"]);
  });
});

describe("what is no file", () => {
  it("a directory, a FIFO, a socket and a device are refused at once", async () => {
    const { dir, readFile } = setUp();
    mkdirSync(join(dir, "folder"));
    execFileSync("mkfifo", [join(dir, "pipe")]);
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(join(dir, "socket"), resolve));
    onTestFinished(() => void server.close());
    const started = performance.now();
    const kinds = [];
    for (const path of ["folder", ".", "pipe", "socket"]) kinds.push(await failureOf(readFile, { path }));
    expect(kinds).toEqual(["is-directory", "is-directory", "special-file", "special-file"]);
    const { readFile: anywhere } = fileTools("/dev");
    expect([await failureOf(anywhere, { path: "zero" }), await failureOf(anywhere, { path: "null" })]).toEqual([
      "special-file",
      "special-file",
    ]);
    expect(performance.now() - started).toBeLessThan(5000);
  });

  it("a missing file names what is near", async () => {
    const { dir, read } = setUp({ "README.md": "", "config.json": "", "user.ts": "" });
    mkdirSync(join(dir, "src"));
    writeFileSync(join(dir, "src", "main.go"), "");
    expect([
      await read({ path: "readme.md" }),
      await read({ path: "src/mian.go" }),
      await read({ path: "scr/main.go" }),
      await read({ path: "user.tsx" }),
      await read({ path: "other" }),
      await read({ path: "user.ts/x" }),
    ]).toEqual([
      "打开文件失败: 文件 'readme.md' 不存在\n相近的路径: README.md",
      "打开文件失败: 文件 'src/mian.go' 不存在\n相近的路径: src/main.go",
      "打开文件失败: 文件 'scr/main.go' 不存在\n目录 '.' 中没有 'scr'\n相近的路径: src",
      "打开文件失败: 文件 'user.tsx' 不存在\n相近的路径: user.ts",
      "打开文件失败: 文件 'other' 不存在",
      "打开文件失败: 路径中有一级不是目录",
    ]);
  });

  it("a link to what is outside says nothing of what is there", async () => {
    const { dir, readFile } = setUp();
    symlinkSync("/etc/hostname", join(dir, "in.txt"));
    const result = await callTool(readFile, { path: "in.txt" });
    expect([result.isError, result.output]).toEqual([true, "路径 'in.txt' 超出工作区范围"]);
  });

  it("arguments that are no JSON, or miss the schema, are errors", async () => {
    const { readFile } = setUp();
    for (const args of ["not_json", "{}", '{"path":1}', '{"path":"a","lines":3}', '{"path":"../../etc/passwd"}'])
      expect(await callTool(readFile, args)).toMatchObject({ isError: true });
  });
});

it("a read waits for a writer of the same file, and a cancel ends the wait", async () => {
  const { dir, readFile, locks } = setUp({ f: "old" });
  const release = await locks.write(join(dir, "f"));
  const cancel = new AbortController();
  const cancelled = callTool(readFile, { path: "f" }, cancel.signal);
  const waiting = callTool(readFile, { path: "f" });
  cancel.abort(new Error("stop"));
  expect(await cancelled).toMatchObject({ isError: true });
  writeFileSync(join(dir, "f"), "new");
  release();
  expect((await waiting).output).toBe("new");
  expect(locks.size).toBe(0);
});
