import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { callTool, failureOf } from "../../helpers/call-tool.ts";
import { fileTools } from "../../helpers/file-tools.ts";
import { tempDir } from "../../helpers/temp-dir.ts";

const setUp = (files: Record<string, string | Buffer> = {}) => {
  const root = tempDir();
  const dir = join(root, "work");
  mkdirSync(dir);
  for (const [name, content] of Object.entries(files)) writeFileSync(join(dir, name), content);
  const { writeFile, locks } = fileTools(dir);
  const at = (path: string): Buffer => readFileSync(join(dir, path));
  return { root, dir, writeFile, locks, at };
};

const modeOf = (path: string): string => (statSync(path).mode & 0o7777).toString(8);

describe("writing", () => {
  it("a new file makes its folders, and the answer counts UTF-8 bytes", async () => {
    const { dir, writeFile, locks, at } = setUp();
    const result = await callTool(writeFile, { path: "deep/nested/dir/file.txt", content: "你好\r\n" });
    expect(result).toEqual({
      toolCallId: "call_1",
      name: "write_file",
      output: "成功将 8 字节写入到文件: deep/nested/dir/file.txt",
      isError: false,
      data: {
        type: "diff",
        path: "deep/nested/dir/file.txt",
        hunks: [{ oldStart: 1, oldLines: 0, newStart: 1, newLines: 1, lines: ["+你好\r"] }],
        added: 1,
        removed: 0,
      },
    });
    expect(at("deep/nested/dir/file.txt")).toEqual(Buffer.from("你好\r\n"));
    expect(readdirSync(join(dir, "deep/nested/dir"))).toEqual(["file.txt"]);
    expect(locks.size).toBe(0);
  });

  it("modes are 0755 and 0644 where the umask allows them, and an old file keeps its own", async () => {
    const { dir, writeFile } = setUp({ "run.sh": "old", secret: "old" });
    chmodSync(join(dir, "run.sh"), 0o755);
    chmodSync(join(dir, "secret"), 0o600);
    for (const path of ["run.sh", "secret", "d/new"]) await callTool(writeFile, { path, content: "new" });
    const umask = process.umask();
    expect([modeOf(join(dir, "run.sh")), modeOf(join(dir, "secret"))]).toEqual(["755", "600"]);
    expect(modeOf(join(dir, "d"))).toBe((0o755 & ~umask).toString(8));
    expect(modeOf(join(dir, "d/new"))).toBe((0o644 & ~umask).toString(8));
  });

  it("an old file is replaced whole, and shown as a diff", async () => {
    const { writeFile, at } = setUp({ f: "a\nb\nc" });
    const { data } = await callTool(writeFile, { path: "f", content: "a\nB\nc" });
    expect(data).toEqual({
      type: "diff",
      path: "f",
      hunks: [{ oldStart: 1, oldLines: 3, newStart: 1, newLines: 3, lines: [" a", "-b", "+B", " c"] }],
      added: 1,
      removed: 1,
    });
    expect(at("f").toString()).toBe("a\nB\nc");
  });

  it("what is binary or large is shown by its size", async () => {
    const { writeFile } = setUp({ bin: Buffer.from([0, 1, 2]), large: "x\n".repeat(600_000) });
    expect((await callTool(writeFile, { path: "bin", content: "text" })).data).toEqual({
      type: "file",
      path: "bin",
      bytes: 4,
    });
    expect((await callTool(writeFile, { path: "large", content: "y" })).data).toEqual({
      type: "file",
      path: "large",
      bytes: 1,
    });
  });

  it("empty content makes an empty file", async () => {
    const { writeFile, at } = setUp();
    expect((await callTool(writeFile, { path: "f", content: "" })).output).toBe("成功将 0 字节写入到文件: f");
    expect(at("f").length).toBe(0);
  });

  it("a byte order mark stays, and so does the encoding that it tells", async () => {
    const utf16 = Buffer.from("\ufeffold", "utf16le");
    const { writeFile, at } = setUp({ utf8: "\ufeffold", utf16, plain: "old" });
    await callTool(writeFile, { path: "utf8", content: "new" });
    await callTool(writeFile, { path: "utf16", content: "你" });
    await callTool(writeFile, { path: "plain", content: "\ufeffnew" });
    expect([at("utf8").toString(), at("plain").toString()]).toEqual(["\ufeffnew", "\ufeffnew"]);
    expect(at("utf16")).toEqual(Buffer.from("\ufeff你", "utf16le"));
    await callTool(writeFile, { path: "utf8", content: "\ufeffagain" });
    expect(at("utf8").toString()).toBe("\ufeffagain");
  });

  it("a symlink inside is written through and stays a link", async () => {
    const { dir, writeFile, at } = setUp({ real: "old" });
    symlinkSync("real", join(dir, "link"));
    symlinkSync("to-come", join(dir, "dangling"));
    await callTool(writeFile, { path: "link", content: "new" });
    await callTool(writeFile, { path: "dangling", content: "made" });
    expect([at("real").toString(), at("to-come").toString()]).toEqual(["new", "made"]);
    expect(readdirSync(dir, { withFileTypes: true }).filter((entry) => entry.isSymbolicLink()).length).toBe(2);
  });

  it("a name as long as names can be", async () => {
    const { writeFile, at } = setUp();
    const path = "n".repeat(255);
    await callTool(writeFile, { path, content: "x" });
    await callTool(writeFile, { path, content: "y" });
    expect(at(path).toString()).toBe("y");
  });
});

describe("refusing", () => {
  it("a folder, a FIFO, a read-only file and a file as parent, all with the old content whole", async () => {
    const { dir, writeFile, at } = setUp({ locked: "old", file: "old" });
    mkdirSync(join(dir, "folder"));
    chmodSync(join(dir, "locked"), 0o444);
    execFileSync("mkfifo", [join(dir, "pipe")]);
    const before = readdirSync(dir);
    const write = async (path: string) => [
      await failureOf(writeFile, { path, content: "new" }),
      (await callTool(writeFile, { path, content: "new" })).output,
    ];
    expect([
      await write("folder"),
      await write("."),
      await write("pipe"),
      await write("locked"),
      await write("file/x"),
    ]).toEqual([
      ["is-directory", "'folder' 是一个目录，不是文件；查看目录请用 bash 执行 ls"],
      ["is-directory", "'.' 是一个目录，不是文件；查看目录请用 bash 执行 ls"],
      ["special-file", "'pipe' 是命名管道（FIFO），不是普通文件，禁止读写"],
      ["read-only", "写入文件失败: 'locked' 是只读文件"],
      ["io", "创建父目录失败: 路径中有一级不是目录"],
    ]);
    expect([at("locked").toString(), at("file").toString(), readdirSync(dir)]).toEqual(["old", "old", before]);
  });

  it("a link that leads outside, before anything is made there", async () => {
    const { root, dir, writeFile } = setUp();
    mkdirSync(join(root, "out"));
    writeFileSync(join(root, "victim.txt"), "victim");
    symlinkSync("../victim.txt", join(dir, "notes.md"));
    symlinkSync(join(root, "out"), join(dir, "sub"));
    for (const path of ["notes.md", "sub/new/deep/a.txt", "../escaped.txt"])
      expect(await failureOf(writeFile, { path, content: "x" })).toBe("outside");
    expect([readFileSync(join(root, "victim.txt"), "utf8"), readdirSync(join(root, "out"))]).toEqual(["victim", []]);
    expect(readdirSync(root).sort()).toEqual(["out", "victim.txt", "work"]);
  });

  it("what makes git or us run programs", async () => {
    const { dir, writeFile } = setUp();
    for (const path of [".git/hooks/pre-commit", ".git/config", ".git", ".mcp.json"])
      expect(await failureOf(writeFile, { path, content: "x" })).toBe("protected");
    expect(await failureOf(writeFile, { path: ".harness9/settings.json", content: "{}" })).toBe("sensitive");
    expect(existsSync(join(dir, ".git"))).toBe(false);
  });

  it("half a character, which would become another one", async () => {
    const { dir, writeFile } = setUp();
    expect(await failureOf(writeFile, { path: "f", content: "a\ud83d" })).toBe("bad-argument");
    expect(readdirSync(dir)).toEqual([]);
  });

  it("arguments that are no JSON or lack the content", async () => {
    const { dir, writeFile } = setUp();
    for (const args of ["not_json", { path: "f" }, { path: "f", content: 1 }])
      expect(await callTool(writeFile, args)).toMatchObject({ isError: true });
    expect(readdirSync(dir)).toEqual([]);
  });

  it("a call that was cancelled, without a trace", async () => {
    const { dir, writeFile, locks } = setUp({ f: "old" });
    const result = await callTool(writeFile, { path: "f", content: "new" }, AbortSignal.abort(new Error("stop")));
    expect([result.isError, readdirSync(dir), locks.size]).toEqual([true, ["f"], 0]);
    expect(readFileSync(join(dir, "f"), "utf8")).toBe("old");
  });
});

it("a preview is the diff, and changes nothing", async () => {
  const { dir, writeFile, at } = setUp({ f: "old\n" });
  const preview = async (args: unknown) => writeFile.preview?.(writeFile.parse(args));
  const asked = await preview({ path: "f", content: "new\n" });
  expect(at("f").toString()).toBe("old\n");
  expect(asked).toEqual((await callTool(writeFile, { path: "f", content: "new\n" })).data);
  expect(await preview({ path: "new/file", content: "x" })).toMatchObject({ type: "diff", added: 1 });
  expect(await preview({ path: "../out", content: "x" })).toBeUndefined();
  expect(readdirSync(dir)).toEqual(["f"]);
});

it("calls at the same time leave one of the contents whole", async () => {
  const { writeFile, at } = setUp();
  const contents = Array.from({ length: 8 }, (_, index) => String(index).repeat(100_000));
  await Promise.all(contents.map((content) => callTool(writeFile, { path: "f", content })));
  expect(contents).toContain(at("f").toString());
});
