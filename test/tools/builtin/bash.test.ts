import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { byteLength } from "../../../src/text/utf8.ts";
import { childEnv } from "../../../src/tools/shell/child-env.ts";
import { bashForTest, eventually, processesIn } from "../../helpers/run-bash.ts";
import { tempDir } from "../../helpers/temp-dir.ts";

type BashCase = {
  readonly id: string;
  readonly title: string;
  readonly command: string;
  readonly timeoutMs: number;
  readonly cancelAfterMs?: number;
  readonly env?: Record<string, string>;
  readonly steps?: readonly string[];
  readonly setup?: { readonly pathWithoutBash?: boolean };
  readonly expect: {
    readonly maxDurationMs: number;
    readonly exitCode?: number | null;
    readonly signal?: string;
    readonly timedOut?: boolean;
    readonly cancelled?: boolean;
    readonly isError?: boolean;
    readonly messageContains?: readonly string[];
    readonly outputEquals?: string;
    readonly outputContains?: readonly string[];
    readonly outputNotContains?: readonly string[];
    readonly maxOutputBytes?: number;
    readonly truncated?: boolean;
    readonly wellFormedUtf16?: boolean;
    readonly maxRssGrowthMB?: number;
    readonly goneAfter?: readonly string[];
    readonly sessionEndGone?: readonly string[];
    readonly steps_expect?: readonly string[];
  };
};

const cases: readonly BashCase[] = JSON.parse(
  readFileSync(new URL("../../fixtures/bash-cases.json", import.meta.url), "utf8"),
);

describe("the cases", () => {
  test.each(cases.filter((one) => !one.steps))("$id $title", async (one) => {
    const env = childEnv({ ...process.env, ...one.env }, Object.keys(one.env ?? {}));
    if (one.setup?.pathWithoutBash) env["PATH"] = tempDir();
    const { bash, workDir, run } = bashForTest({ env });
    const cancel = new AbortController();
    if (one.cancelAfterMs !== undefined) setTimeout(() => cancel.abort(), one.cancelAfterMs);
    let peak = 0;
    const rss = process.memoryUsage().rss;
    const sampler = setInterval(() => {
      peak = Math.max(peak, process.memoryUsage().rss);
    }, 20);

    const begin = performance.now();
    const result = await run({ command: one.command, timeout_ms: one.timeoutMs }, { signal: cancel.signal });
    const durationMs = performance.now() - begin;
    clearInterval(sampler);

    const { expect: wanted } = one;
    expect(durationMs).toBeLessThan(wanted.maxDurationMs);
    expect(result.isError).toBe(wanted.isError ?? wanted.cancelled ?? false);
    if (wanted.isError) expect(result.data).toBeUndefined();
    else {
      expect(result.data).toMatchObject({
        type: "command",
        command: one.command,
        ...(typeof wanted.exitCode === "number" && { exitCode: wanted.exitCode }),
        ...(wanted.signal !== undefined && { signal: wanted.signal }),
        ...(wanted.timedOut && { timedOut: true }),
      });
      expect(result.output.includes("超时")).toBe(wanted.timedOut ?? false);
      expect(result.output.includes("取消")).toBe(wanted.cancelled ?? false);
      expect(result.output.includes("已截断")).toBe(wanted.truncated ?? false);
    }
    if (wanted.outputEquals !== undefined)
      expect(result.output).toBe(wanted.outputEquals === "" ? "命令执行成功，无终端输出。" : wanted.outputEquals);
    for (const text of [...(wanted.outputContains ?? []), ...(wanted.messageContains ?? [])])
      expect(result.output).toContain(text);
    for (const text of wanted.outputNotContains ?? []) expect(result.output).not.toContain(text);
    if (wanted.maxOutputBytes !== undefined)
      expect(byteLength(result.output)).toBeLessThanOrEqual(wanted.maxOutputBytes);
    // As isWellFormed of later languages: a lone surrogate does not survive UTF-8.
    if (wanted.wellFormedUtf16) expect(Buffer.from(result.output).toString()).toBe(result.output);
    if (wanted.maxRssGrowthMB !== undefined) expect((peak - rss) / 1e6).toBeLessThan(wanted.maxRssGrowthMB);
    for (const text of wanted.goneAfter ?? [])
      await eventually(() => !processesIn(workDir).some((a) => a.includes(text)));
    if (wanted.sessionEndGone === undefined) return;
    for (const text of wanted.sessionEndGone) await eventually(() => processesIn(workDir).includes(text));
    expect(await bash.close()).toBe(1);
    expect(processesIn(workDir)).toEqual([]);
  });

  test.each(cases.filter((one) => one.steps))("$id $title", async (one) => {
    const { workDir, run } = bashForTest();
    const outputs: string[] = [];
    for (const command of one.steps ?? []) outputs.push((await run({ command })).output);
    expect(outputs).toEqual(one.expect.steps_expect?.map((line) => `${line.replace("<workdir>", workDir)}\n`));
  });
});

describe("texts", () => {
  test.each([
    ["echo hello", "hello\n"],
    ["true", "命令执行成功，无终端输出。"],
    ["exit 1", "执行报错: exit status 1\n输出:\n"],
    ["echo a; echo b >&2; exit 7", "执行报错: exit status 7\n输出:\na\nb\n"],
    ["kill -SEGV $$", "执行报错: exit status 139 (SIGSEGV)\n输出:\n"],
    ["kill -9 $$", "执行报错: exit status 137 (SIGKILL)\n输出:\n"],
    ["echo done \\", "done \\\n"],
    ["if true; then", "执行报错: exit status 2\n输出:\nbash: -c: line 2: syntax error: unexpected end of file\n"],
    ["\nnope_x", "执行报错: exit status 127\n输出:\nbash: line 2: nope_x: command not found\n"],
    ["echo $0 $#", "bash 0\n"],
    ["[ -t 0 ] || [ -t 1 ] || [ -t 2 ] || echo none", "none\n"],
    ["(: </dev/tty) 2>/dev/null || echo no terminal", "no terminal\n"],
    ["echo $HARNESS9 $AI_AGENT $GIT_TERMINAL_PROMPT $PAGER $GIT_PAGER", "1 harness9 0 cat cat\n"],
    ["git config core.fsmonitor", "false\n"],
    [
      "git init -q; git -c user.name=a -c user.email=a commit --allow-empty 2>&1 | tail -1",
      "Aborting commit due to empty commit message.\n",
    ],
    ["printf '\\r\\n\\033]0;title\\007a\\033Pdcs\\033\\\\b\\033[1mc\\n'", "\nabc\n"],
  ])("%j answers %j", async (command, output) => {
    expect(await bashForTest().run({ command })).toMatchObject({ output, isError: false });
  });

  test.each(["", "  ", "\n\t\n"])("an empty command %j is an error and starts no process", async (command) => {
    expect(await bashForTest({ shell: "/nowhere/bash" }).run({ command })).toEqual({
      output: "Error: 命令为空字符串",
      isError: true,
    });
  });

  test("a command with NUL is refused", async () => {
    expect(await bashForTest().run({ command: "echo a\0b" })).toEqual({
      output: "Error: 命令含有 NUL 字符，无法执行",
      isError: true,
    });
  });

  test("a command of a megabyte is refused by the system, and the model is told what to do", async () => {
    const command = `: ${"x".repeat(1_000_000)}`;
    expect(await bashForTest().run({ command })).toEqual({
      output: "Error: 命令过长 (1000002 字节)，系统拒绝执行。请用 write_file 把内容写入文件，再运行较短的命令。",
      isError: true,
    });
  });

  test("a work directory that is gone is named", async () => {
    const { run, workDir } = bashForTest();
    rmSync(workDir, { recursive: true });
    expect(await run({ command: "echo hi" })).toEqual({
      output: `Error: 工作目录 '${workDir}' 不存在或不是目录，命令没有执行。`,
      isError: true,
    });
  });

  test("a shell that is missing is named, and the next call works", async () => {
    const { run } = bashForTest({ shell: "/nowhere/bash" });
    const missing = "Error: 找不到 '/nowhere/bash'。请安装 bash 并确认它在 PATH 中，或改用其他工具。";
    expect(await run({ command: "echo hi" })).toEqual({ output: missing, isError: true });
    expect(await run({ command: "echo hi" })).toEqual({ output: missing, isError: true });
  });

  test("arguments that miss the schema are refused by name", () => {
    const { tool } = bashForTest().bash;
    expect(() => tool.parse({})).toThrow("command");
    expect(() => tool.parse({ command: "ls", timeout_ms: 0 })).toThrow("timeout_ms");
    expect(() => tool.parse({ command: "ls", timeout_ms: 600_001 })).toThrow("timeout_ms");
    expect(() => tool.parse({ command: "ls", timeout_ms: 1.5 })).toThrow("timeout_ms");
  });

  test("the engine's limit is the command's own and five seconds", () => {
    const { tool } = bashForTest().bash;
    const limit = tool.timeoutMs;
    if (typeof limit !== "function") throw new Error("not a function");
    expect([limit({ command: "ls" }), limit({ command: "ls", timeout_ms: 1500 })]).toEqual([35_000, 6500]);
  });
});

describe("stopping", () => {
  test("at the time limit the output stays and the notice has the real limit", async () => {
    const { run } = bashForTest({ timeoutMs: 700 });
    expect(await run({ command: "echo before; echo warn >&2; sleep 61" })).toMatchObject({
      output: "before\nwarn\n\n[警告: 命令执行超时(0.7s)，已被系统强制终止。]",
      isError: false,
      data: { type: "command", exitCode: null, signal: "SIGTERM", timedOut: true, outputBytes: 12 },
    });
    expect((await run({ command: "sleep 61", timeout_ms: 250 })).output).toBe(
      "[警告: 命令执行超时(0.25s)，已被系统强制终止。]",
    );
  });

  test("a cancelled command keeps what it printed", async () => {
    const { run, workDir } = bashForTest();
    const cancel = new AbortController();
    const result = await run(
      { command: "echo start; sleep 62" },
      { signal: cancel.signal, onEvent: () => cancel.abort() },
    );
    expect(result).toMatchObject({ output: "Error: 命令已取消，未执行完毕。\n输出:\nstart\n", isError: true });
    expect(processesIn(workDir)).toEqual([]);
  });

  test("a command that floods is cancelled in mid-output", async () => {
    const { run, workDir } = bashForTest();
    const cancel = new AbortController();
    const result = await run({ command: "yes" }, { signal: cancel.signal, onEvent: () => cancel.abort() });
    expect(result.isError).toBe(true);
    expect(byteLength(result.output)).toBeLessThan(8600);
    expect(processesIn(workDir)).toEqual([]);
  });

  test("cancelled before it begins, nothing runs", async () => {
    const { run, workDir } = bashForTest();
    const result = await run({ command: "touch ran" }, { signal: AbortSignal.abort() });
    expect(result).toEqual({ output: "Error: 命令已取消，未执行完毕。\n输出:\n", isError: true });
    expect(existsSync(join(workDir, "ran"))).toBe(false);
  });

  test.each([
    ["grandchildren", "bash -c 'bash -c \"sleep 63; :\"; :'; :"],
    ["a pipeline", "sleep 63 | cat | cat"],
    ["a group of its own, by timeout", "timeout 90 sleep 63"],
    ["a group of its own, by job control", "set -m; sleep 63 & sleep 63"],
    ["a session of its own", "setsid -w sleep 63"],
    ["a session of its own that ignores SIGTERM", "setsid -w bash -c 'trap \"\" TERM; sleep 63; sleep 63'"],
    ["a child that ignores SIGTERM while bash does not", "bash -c 'trap \"\" TERM; sleep 63; sleep 63'; :"],
    ["a daemon", "setsid -f sleep 63; sleep 63"],
    ["a daemon that two parents have left", "(setsid -f bash -c '(sleep 63 &) >/dev/null 2>&1' &); sleep 63"],
    ["a stopped process", "sleep 63 & kill -STOP $!; wait"],
    ["a background child", "sleep 63 & sleep 63"],
  ])("nothing stays of %s", async (_, command) => {
    const { run, workDir } = bashForTest();
    const result = await run({ command, timeout_ms: 400 });
    expect(result.data).toMatchObject({ timedOut: true });
    expect(processesIn(workDir)).toEqual([]);
  });
});

describe("background processes", () => {
  test("one that prints lives on, goes on printing into the file, and ends with the session", async () => {
    const { bash, run, workDir, outputsDir } = bashForTest();
    const path = join(outputsDir, "server.txt");
    const command = "echo up; (for i in 1 2 3; do sleep 0.3; echo line $i; done; sleep 64) &";
    const result = await run({ command }, { id: "server" });
    expect(result).toMatchObject({
      output: `up\n\n[提示: 仍有后台进程在运行，会话结束时终止；其后续输出写入: ${path}]`,
      isError: false,
      data: { exitCode: 0, outputPath: path },
    });
    await eventually(() => readFileSync(path, "utf8") === "up\nline 1\nline 2\nline 3\n");
    await eventually(() => processesIn(workDir).includes("sleep 64"));
    expect(await bash.close()).toBe(1);
    expect(processesIn(workDir)).toEqual([]);
    expect(await bash.close()).toBe(0);
  });

  test("a flood in the background neither blocks nor fills the disk", async () => {
    const { bash, run, outputsDir, workDir } = bashForTest();
    const result = await run({ command: "yes & echo hi" }, { id: "flood" });
    expect(byteLength(result.output)).toBeLessThan(8800);
    const path = join(outputsDir, "flood.txt");
    await eventually(() => statSync(path).size >= 32 * 1024 * 1024 - 4);
    expect((await run({ command: "echo next" })).output).toBe("next\n");
    expect(statSync(path).size).toBeLessThanOrEqual(32 * 1024 * 1024);
    expect(await bash.close()).toBe(1);
    expect(processesIn(workDir)).toEqual([]);
  });

  test.each([
    ["redirected", "nohup sleep 65 >/dev/null 2>&1 &"],
    ["with a file", "sleep 65 > log 2>&1 &"],
  ])("one that is %s is mentioned without a file, and ends with the session", async (_, command) => {
    const { bash, run, outputsDir, workDir } = bashForTest();
    expect((await run({ command })).output).toBe(
      "命令执行成功，无终端输出。\n[提示: 仍有后台进程在运行，会话结束时终止。]",
    );
    expect(existsSync(outputsDir)).toBe(false);
    expect(await bash.close()).toBe(1);
    expect(processesIn(workDir)).toEqual([]);
  });

  test("one in a group of its own ends with the session too", async () => {
    const { bash, run, workDir } = bashForTest();
    await run({ command: "set -m; timeout 99 sleep 66 >/dev/null 2>&1 &" });
    await eventually(() => processesIn(workDir).includes("sleep 66"));
    expect(await bash.close()).toBe(1);
    expect(processesIn(workDir)).toEqual([]);
  });

  test.each([
    ["nohup", "nohup sleep 66 >/dev/null 2>&1 &", "sleep 66"],
    ["disown", "sleep 66 & disown", "sleep 66"],
    ["a subshell", "(sleep 66 &)", "sleep 66"],
    ["two subshells", "( (sleep 66 >/dev/null 2>&1 &) & )", "sleep 66"],
    ["coproc", "coproc sleep 66", "sleep 66"],
    ["setsid", "setsid sleep 66 &", "sleep 66"],
    ["a daemon", "setsid -f sleep 66", "sleep 66"],
    ["a daemon that says nothing", "setsid -f sleep 66 </dev/null >/dev/null 2>&1", "sleep 66"],
    ["a daemon with a daemon", "setsid -f bash -c 'setsid -f sleep 66; :'", "sleep 66"],
    ["another descriptor", "sleep 66 3>&1 >/dev/null 2>&1 &", "sleep 66"],
  ])("one by %s neither holds the result nor outlives the session", async (_, command, line) => {
    const { bash, run, workDir } = bashForTest();
    const result = await run({ command: `${command}\necho hi` });
    expect(result).toMatchObject({ isError: false, data: { exitCode: 0 } });
    expect(result.output.startsWith("hi\n")).toBe(true);
    await eventually(() => processesIn(workDir).includes(line));
    expect(await bash.close()).toBe(1);
    expect(processesIn(workDir)).toEqual([]);
  });

  test("a command that is stopped takes its own daemons with it, not those of another one", async () => {
    const { run, workDir } = bashForTest();
    await run({ command: "setsid -f sleep 66" });
    await run({ command: "setsid -f sleep 67; sleep 67", timeout_ms: 400 });
    expect(processesIn(workDir)).toEqual(["sleep 66"]);
  });

  test("killAll ends at once what ignores SIGTERM", async () => {
    const { bash, run, workDir } = bashForTest();
    await run({ command: "(trap '' TERM; sleep 67; sleep 67) &" });
    bash.killAll();
    await eventually(() => processesIn(workDir).length === 0);
    expect(await bash.close()).toBe(0);
  });

  test("close ends a command that still runs", async () => {
    const { bash, run, workDir } = bashForTest();
    const result = run({ command: "echo on; sleep 68" });
    await eventually(() => processesIn(workDir).some((line) => line === "sleep 68"));
    expect(await bash.close()).toBe(1);
    expect((await result).output).toBe("执行报错: exit status 143 (SIGTERM)\n输出:\non\n");
  });

  test("the end of the command is not held by what prints shortly after", async () => {
    const { run } = bashForTest();
    expect((await run({ command: "echo a > >(cat); echo b > >(tee log)" })).output.split("\n").toSorted()).toEqual([
      "",
      "a",
      "b",
    ]);
  });
});

describe("output", () => {
  test("stdout and stderr keep their order, many times over", async () => {
    const { run } = bashForTest();
    const numbers = Array.from({ length: 300 }, (_, index) => index);
    const { output } = await run({
      command: "for i in {0..299}; do if ((i % 2)); then echo $i >&2; else echo $i; fi; done",
    });
    expect(output).toBe(`${numbers.join("\n")}\n`);
  });

  test("the streams can be opened by name", async () => {
    const { run } = bashForTest();
    expect(
      (await run({ command: "echo a > /dev/stderr; echo b | tee /dev/stdout; echo c >> /proc/self/fd/1" })).output,
    ).toBe("a\nb\nb\nc\n");
  });

  test("where there are no pipes of ours the order and the texts are the same", async () => {
    const { run } = bashForTest({ platform: "darwin" });
    expect((await run({ command: "echo o1; echo e1 >&2; echo o2 # note" })).output).toBe("o1\ne1\no2\n");
    expect((await run({ command: "echo a\nnope_x\necho $0 $#" })).output).toBe(
      "a\nbash: line 2: nope_x: command not found\nbash 0\n",
    );
    expect(await run({ command: "cat <<'EOF'\n$HOME\nEOF\nsleep 69", timeout_ms: 300 })).toMatchObject({
      output: "$HOME\n\n[警告: 命令执行超时(0.3s)，已被系统强制终止。]",
      data: { timedOut: true },
    });
    expect((await run({ command: "true" })).output).toBe("命令执行成功，无终端输出。");
  });

  test.each(["linux", "darwin"] as const)(
    "BASH_ENV and exported functions are the user's own (%s)",
    async (platform) => {
      const profile = join(tempDir(), "profile");
      writeFileSync(profile, "echo profile\n");
      const env = childEnv({ ...process.env, BASH_ENV: profile, "BASH_FUNC_hello%%": "() { echo hello $1; }" }, []);
      const { run } = bashForTest({ platform, env });
      expect((await run({ command: "hello you" })).output).toBe("profile\nhello you\n");
    },
  );

  test.each([
    ["a success", "seq 1 4000", undefined, ""],
    ["a failure", "seq 1 4000; exit 3", undefined, "执行报错: exit status 3\n输出:\n"],
    ["a time-out", "seq 1 4000; sleep 70", 500, ""],
  ])("of %s: head and tail are kept, the whole is in the file", async (_, command, timeout_ms, prefix) => {
    const { run, outputsDir } = bashForTest();
    const whole = `${Array.from({ length: 4000 }, (_, index) => index + 1).join("\n")}\n`;
    const path = join(outputsDir, "call_1.txt");
    const { output, data } = await run({ command, ...(timeout_ms && { timeout_ms }) });
    const notice = `...[输出过长，中间 ${whole.length - 8000} 字节已截断，保留首尾；完整输出: ${path}]...`;
    const suffix = timeout_ms ? "\n[警告: 命令执行超时(0.5s)，已被系统强制终止。]" : "";
    expect(output).toBe(`${prefix}${whole.slice(0, 2666)}\n\n${notice}\n\n${whole.slice(-5334)}${suffix}`);
    expect(data).toMatchObject({ outputBytes: whole.length, outputPath: path });
    expect(readFileSync(path, "utf8")).toBe(whole);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(outputsDir).mode & 0o777).toBe(0o700);
  });

  test.each([7999, 8000])("%d bytes are whole and make no file", async (bytes) => {
    const { run, outputsDir } = bashForTest();
    const { output, data } = await run({ command: `head -c ${bytes} /dev/zero | tr '\\0' x` });
    expect(output).toBe("x".repeat(bytes));
    expect(data).toEqual({ type: "command", command: expect.any(String), exitCode: 0, outputBytes: bytes });
    expect(existsSync(outputsDir)).toBe(false);
  });

  test("the file of a huge output is capped, and the notice says so", async () => {
    const { run, outputsDir } = bashForTest();
    const { output } = await run({ command: "head -c 40000000 /dev/zero | tr '\\0' x" });
    expect(output).toContain(`输出的前 32 MB: ${join(outputsDir, "call_1.txt")}]...`);
    expect(statSync(join(outputsDir, "call_1.txt")).size).toBe(32 * 1024 * 1024);
  });

  test("no id leads out of the outputs folder, and one that comes again overwrites nothing", async () => {
    const { run, outputsDir } = bashForTest();
    for (const id of ["../../x", "../../x", "", "a/b", "id".repeat(200)]) await run({ command: "seq 1 4000" }, { id });
    const made = readdirSync(outputsDir, { recursive: true });
    expect(made.toSorted()).toEqual(
      ["______x.txt", "______x-2.txt", "call.txt", "a_b.txt", `${"id".repeat(50)}.txt`].toSorted(),
    );
  });

  test("a folder that cannot be made costs only the file", async () => {
    const file = join(tempDir(), "file");
    writeFileSync(file, "");
    const { output, isError, data } = await bashForTest({ outputsDir: join(file, "outputs") }).run({
      command: "seq 1 4000",
    });
    expect(output).toContain("完整输出未能保存: ENOTDIR");
    expect(isError).toBe(false);
    expect(data).not.toHaveProperty("outputPath");
  });

  test("an outputs folder that was open to others is closed", async () => {
    const outputsDir = tempDir();
    mkdirSync(outputsDir, { recursive: true });
    chmodSync(outputsDir, 0o755);
    await bashForTest({ outputsDir }).run({ command: "seq 1 4000" });
    expect(statSync(outputsDir).mode & 0o777).toBe(0o700);
  });
});

describe("progress", () => {
  test("shows the newest output, cleaned, at most 2 KB and ten times a second", async () => {
    const { run, events } = bashForTest();
    const times: number[] = [];
    await run(
      {
        command:
          "for i in {1..100}; do printf '\\033[32m%s\\033[0m %050d\\n' line $i; sleep 0.01; done; printf '10%%\\r99%%'; sleep 0.3",
      },
      { onEvent: () => times.push(performance.now()) },
    );
    const texts = events.map((event) => (event.type === "tool.progress" ? event.text : event.type));
    expect(texts.at(-1)?.endsWith(`line ${"100".padStart(50, "0")}\n99%`)).toBe(true);
    expect(Math.max(...texts.map(byteLength))).toBeLessThanOrEqual(2048);
    expect(texts.some((text) => text.includes("\x1b"))).toBe(false);
    for (const [index, time] of times.entries()) expect((times[index + 10] ?? Infinity) - time).toBeGreaterThan(900);
  });

  test("a short command shows its result only", async () => {
    const { run, events } = bashForTest();
    await run({ command: "true" });
    expect(events).toEqual([]);
  });
});

describe("many at once", () => {
  test("twenty commands at once each get their own output", async () => {
    const { run, workDir } = bashForTest();
    const numbers = Array.from({ length: 20 }, (_, index) => index);
    const results = await Promise.all(
      numbers.map((number) =>
        run({ command: `echo out ${number}; sleep 0.1; echo err ${number} >&2; exit ${number % 2}` }),
      ),
    );
    expect(results.map(({ output }) => output)).toEqual(
      numbers.map((n) => `${n % 2 ? "执行报错: exit status 1\n输出:\n" : ""}out ${n}\nerr ${n}\n`),
    );
    expect(processesIn(workDir)).toEqual([]);
  });

  test("no descriptors are lost over many commands of every kind", async () => {
    const { run } = bashForTest();
    const open = () => readdirSync("/proc/self/fd").length;
    const round = async () => {
      await Promise.all([
        run({ command: "echo hi" }),
        run({ command: "exit 1" }),
        run({ command: "sleep 9", timeout_ms: 50 }),
      ]);
      await run({ command: "seq 1 4000" });
      await run({ command: `: ${"x".repeat(200_000)}` });
    };
    await round();
    const before = open();
    for (let count = 0; count < 5; count += 1) await round();
    await eventually(() => open() <= before);
  });
});
