import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Answer, Ask, Question } from "../../../src/schema/ask.ts";
import type { EngineEventBody } from "../../../src/schema/event.ts";
import { en } from "../../../src/text/en.ts";
import { zh } from "../../../src/text/zh.ts";
import { argumentsDigest } from "../../../src/tools/arguments-digest.ts";
import { type BashOptions, createBash } from "../../../src/tools/builtin/bash.ts";
import { Registry } from "../../../src/tools/registry.ts";
import { offerOutside } from "../../../src/tools/sandbox/offer-outside.ts";
import { createSandbox } from "../../../src/tools/sandbox/open-sandbox.ts";
import { createPolicy } from "../../../src/tools/sandbox/policy.ts";
import { childEnv } from "../../../src/tools/shell/child-env.ts";
import { bashForTest, eventually, processesIn } from "../../helpers/run-bash.ts";
import { bubblewrapFor, HAS_BWRAP, policyFor, sandboxPlace } from "../../helpers/sandbox.ts";
import { tempDir } from "../../helpers/temp-dir.ts";

const title = HAS_BWRAP ? "bash in bubblewrap" : "bash in bubblewrap (left out: it does not start on this machine)";

const confinedBash = (options: Partial<BashOptions> = {}) => {
  const place = sandboxPlace();
  const sandbox = bubblewrapFor(policyFor(place, { tempDirs: [join(place.root, "temp")] }));
  return { ...bashForTest({ workDir: place.workDir, sandbox, ...options }), ...place, sandbox };
};

describe.skipIf(!HAS_BWRAP)(title, () => {
  test.each([
    ["echo hello", "hello\n"],
    ["true", zh.bash.silent],
    ["echo a; echo b >&2; exit 7", "执行报错: exit status 7\n输出:\na\nb\n"],
    ["exit 1", "执行报错: exit status 1\n输出:\n"],
    ["kill -SEGV $$", "执行报错: exit status 139 (SIGSEGV)\n输出:\n"],
    ["kill -9 $$", "执行报错: exit status 137 (SIGKILL)\n输出:\n"],
    ["kill -VTALRM $$", "执行报错: exit status 154 (SIGVTALRM)\n输出:\n"],
    ["kill 0", "执行报错: exit status 143 (SIGTERM)\n输出:\n"],
    ["exit 200", "执行报错: exit status 200\n输出:\n"],
    ["\nnope_x", "执行报错: exit status 127\n输出:\nbash: line 2: nope_x: command not found\n"],
    ["echo $0 $#", "bash 0\n"],
    ["[ -t 0 ] || [ -t 1 ] || [ -t 2 ] || echo none", "none\n"],
    ["(: </dev/tty) 2>/dev/null || echo no terminal", "no terminal\n"],
    ["echo o | tee /dev/stdout >/dev/stderr; echo e >/dev/stderr", "o\no\ne\n"],
    ["for i in 1 2 3; do echo o$i; echo e$i >&2; done", "o1\ne1\no2\ne2\no3\ne3\n"],
    ["printf 'x%.0s' {1..300}; echo; echo '# done' # a comment", `${"x".repeat(300)}\n# done\n`],
    ['cat; read x; echo "[$x]"', "[]\n"],
    ["pwd; echo $PWD", "PLACE\nPLACE\n"],
  ])("%j answers as it does outside", async (command, output) => {
    const { run, workDir } = confinedBash();
    const result = await run({ command });
    expect(result.output).toBe(output.replaceAll("PLACE", workDir));
  });

  test("a command that is stopped keeps its output, and nothing stays of it, whatever sessions it made", async () => {
    const { run, workDir } = confinedBash();
    const command = "echo begun; trap '' TERM; setsid sleep 61 & (setsid -f sleep 62); sleep 63";
    const result = await run({ command, timeout_ms: 500 });
    expect(result.output).toContain("begun");
    expect(result.data).toMatchObject({ timedOut: true });
    expect(processesIn(workDir)).toEqual([]);
    expect(readdirSync(workDir)).toEqual([]);
  });

  test("a trap may still print at a cancel", async () => {
    const { run } = confinedBash();
    const cancel = new AbortController();
    const ran = run(
      { command: "trap 'echo cleaned; exit' TERM; echo ready; while :; do sleep 0.05; done" },
      { signal: cancel.signal, onEvent: () => cancel.abort() },
    );
    expect((await ran).output).toMatch(/ready\n(?:Terminated\n)?cleaned/);
  });

  test.each([
    ["one that prints", "(sleep 0.4; echo late; sleep 60) & echo started", 1],
    ["one that is silent", "sleep 60 >/dev/null 2>&1 & echo started", 1],
    ["a daemon", "setsid -f sleep 60 >/dev/null 2>&1; echo started", 1],
  ])("%s lives on in the background until the session ends", async (_, command, count) => {
    const { run, bash, workDir } = confinedBash();
    const result = await run({ command });
    expect(result.output).toContain("started\n");
    expect(result.output).toContain("后台进程");
    const outputPath = result.data?.type === "command" ? result.data.outputPath : undefined;
    expect(outputPath !== undefined).toBe(command.includes("late"));
    if (outputPath !== undefined) await eventually(() => readFileSync(outputPath, "utf8").includes("late"));
    expect(processesIn(workDir).join()).toContain("sleep 60");
    expect(await bash.close()).toBe(count);
    expect(processesIn(workDir)).toEqual([]);
    expect(readdirSync(workDir)).toEqual([]);
  });

  test("what a background process says goes into a file only where it can print", async () => {
    const { run } = confinedBash();
    const result = await run({ command: "sleep 60 >/dev/null 2>&1 & echo started" });
    expect(result.output).toBe(`started\n${zh.bash.background}`);
  });

  test("many at once do not take each other's protection away, and leave nothing", async () => {
    const { run, workDir } = confinedBash();
    const commands = Array.from(
      { length: 12 },
      (_, index) => `sleep 0.${index % 4}; mkdir -p .harness9/x && echo made`,
    );
    const results = await Promise.all(commands.map((command) => run({ command })));
    expect(results.map(({ output }) => output.includes("made"))).toEqual(commands.map(() => false));
    expect(readdirSync(workDir)).toEqual([]);
  });

  test.each([
    ["says why", "echo 'bwrap: no namespaces today' >&2; exit 1", "bwrap: no namespaces today"],
    ["says nothing", "exit 1", "no message"],
    ["is killed", "kill -9 $$", "SIGKILL"],
    ["leaves somebody who holds its status", "(sleep 20 >/dev/null 2>&1) & echo no >&2; exit 1", "no"],
  ])("a sandbox that no longer starts and %s is an error, and the command does not run without it", async (...way) => {
    const [, script, said] = way;
    const { workDir, root, home } = sandboxPlace();
    const policy = createPolicy(policyFor({ workDir, root, home }));
    const program = join(root, "bwrap");
    writeFileSync(program, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    const sandbox = createSandbox({ name: "bubblewrap", program, policy });
    const { run, bash } = bashForTest({ workDir, sandbox });
    expect(await run({ command: "touch ran" })).toEqual({
      isError: true,
      output: zh.sandbox.notStarted("bubblewrap", said),
    });
    expect(readdirSync(workDir)).toEqual([]);
    await bash.close();
  });

  test("a shell or a work directory that is missing is named as outside", async () => {
    const missing = confinedBash({ shell: "/nowhere/bash" });
    expect((await missing.run({ command: "true" })).output).toBe(zh.bash.shellMissing("/nowhere/bash"));
    const unnamed = confinedBash({ env: { PATH: tempDir() } });
    expect((await unnamed.run({ command: "true" })).output).toBe(zh.bash.shellMissing("bash"));
  });

  test("the environment of harness9 cannot be read, and the command's own has its mark", async () => {
    const { run } = confinedBash({ env: { ...childEnv(process.env, []), OWN: "yes" } });
    const { output } = await run({
      command: `cat /proc/${process.ppid}/environ /proc/${process.pid}/environ 2>&1 | tr '\\0' '\\n'; printenv OWN; test -n "$HARNESS9_COMMAND" && echo marked`,
    });
    expect(output.split("\n").slice(-3)).toEqual(["yes", "marked", ""]);
    expect(output).not.toContain("VITEST");
  });
});

describe.skipIf(!HAS_BWRAP)("what the sandbox refuses", () => {
  const answering = (answer: Answer | ((question: Question) => Answer)) => {
    const questions: Question[] = [];
    const ask: Ask = async (question) => {
      questions.push(question);
      return typeof answer === "function" ? answer(question) : answer;
    };
    return { ask, questions };
  };

  const registryWith = (ask: Ask | undefined) => {
    const place = sandboxPlace();
    const sandbox = bubblewrapFor(policyFor(place));
    const { workDir } = place;
    const env = { ...childEnv(process.env, []), HOME: place.home };
    const bash = createBash({ workDir, env, outputsDir: join(place.root, "outputs"), strings: en, sandbox });
    onTestFinished(async () => void (await bash.close()));
    const { tool: confined, unconfined } = bash;
    const outside = offerOutside({ sandbox, confined, unconfined, ask, strings: en.sandbox });
    const registry = new Registry({ strings: en.registry, middlewares: [outside] });
    registry.register(confined);
    const events: EngineEventBody[] = [];
    const run = (command: string, signal = new AbortController().signal) => {
      const call = { id: "call_1", name: "bash", arguments: JSON.stringify({ command }) };
      const session = { id: "s", workDir, model: "m" };
      return registry.execute(call, { call, signal, emit: (event) => void events.push(event), session });
    };
    return { ...place, events, run };
  };

  const COMMAND = "echo once >>log; touch ../outside";

  test("is explained to the model where nobody can be asked", async () => {
    const { run, home } = registryWith(undefined);
    const { output, isError } = await run(COMMAND);
    expect(output).toBe(
      `Command failed: exit status 1\nOutput:\ntouch: cannot touch '../outside': Read-only file system\n\n${en.sandbox.explained(
        "bubblewrap",
        en.sandbox.refusals.write,
        `the work directory, ${join(home, ".cache")}, ${join(home, ".npm/_cacache")}`,
      )}`,
    );
    expect(isError).toBe(false);
  });

  test("runs outside after a yes, from the beginning, and only that once", async () => {
    const { ask, questions } = answering({ decision: "allow", scope: "once" });
    const { run, home, workDir, events } = registryWith(ask);
    expect((await run(COMMAND)).output).toBe(en.bash.silent);
    expect(existsSync(join(home, "outside"))).toBe(true);
    expect(readFileSync(join(workDir, "log"), "utf8")).toBe("once\nonce\n");
    const question = {
      kind: "permission",
      toolCallId: "call_1",
      name: "bash",
      arguments: JSON.stringify({ command: COMMAND }),
      reason: en.sandbox.offer(en.sandbox.refusals.write),
      by: "sandbox",
      offers: [],
    };
    expect(questions).toEqual([question]);
    expect(events).toEqual([
      { type: "permission.requested", toolCallId: "call_1", question },
      {
        type: "permission.resolved",
        toolCallId: "call_1",
        name: "bash",
        decision: "allow",
        scope: "once",
        by: "person",
        argumentsDigest: argumentsDigest({ id: "call_1", name: "bash", arguments: question.arguments }),
      },
    ]);
    await run("touch ../outside2");
    expect(questions).toHaveLength(2);
  });

  test.each([
    ["a no", { decision: "reject", scope: "once", feedback: "use the work directory" }, "use the work directory"],
    ["a dismissal", { dismissed: true }, ""],
    ["a yes to another command", { decision: "allow", scope: "once", arguments: '{"command":"rm x"}' }, ""],
  ] as const)("stays refused after %s", async (_, answer, feedback) => {
    const { ask } = answering(answer);
    const { run, home, workDir, events } = registryWith(ask);
    const { output } = await run(COMMAND);
    expect(output.endsWith(en.sandbox.declined(feedback))).toBe(true);
    expect(existsSync(join(home, "outside"))).toBe(false);
    expect(readFileSync(join(workDir, "log"), "utf8")).toBe("once\n");
    expect(events.at(-1)).toMatchObject({ type: "permission.resolved", decision: "reject", by: "person" });
  });

  test("an abort settles the question", async () => {
    const cancel = new AbortController();
    const ask: Ask = () => {
      cancel.abort();
      return new Promise(() => undefined);
    };
    const { run, home } = registryWith(ask);
    await run(COMMAND, cancel.signal);
    expect(existsSync(join(home, "outside"))).toBe(false);
  });

  test.each(["false", "echo Read-only file system", "exit 3"])("nobody is asked about %j", async (command) => {
    const { ask, questions } = answering({ decision: "allow", scope: "once" });
    const { run } = registryWith(ask);
    expect((await run(command)).output).not.toContain("sandbox");
    expect(questions).toEqual([]);
  });
});
