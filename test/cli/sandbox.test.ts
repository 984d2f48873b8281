import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { createChat } from "../../src/cli/chat-machine.ts";
import type { RunOptions } from "../../src/cli/program.ts";
import { prepare } from "../../src/cli/setup.ts";
import type { Ask, Question } from "../../src/schema/ask.ts";
import type { EngineEvent } from "../../src/schema/event.ts";
import { modelServer, openAIAnswer } from "../helpers/model-server.ts";
import {
  bash,
  KEY,
  newPlace,
  openAIEnv,
  type Place,
  put,
  readEvents,
  runProgram,
  toolCalls,
} from "../helpers/program.ts";
import { HAS_BWRAP } from "../helpers/sandbox.ts";

const title = HAS_BWRAP ? "with bubblewrap" : "with bubblewrap (left out: it does not start on this machine)";

/** A home and a project that do not lie in a temp folder, where everything may write. */
const placeOutsideTemp = (): Place => {
  const root = mkdtempSync("/var/tmp/harness9-");
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const place = { home: join(root, "home"), workDir: join(root, "project") };
  for (const folder of Object.values(place)) mkdirSync(folder);
  return place;
};

const sandboxOf = (events: readonly EngineEvent[]) =>
  events.flatMap((event) => (event.type === "run.started" ? [event.sandbox] : []));

const outputOf = (events: readonly EngineEvent[]) =>
  events.flatMap((event) => (event.type === "tool.completed" ? [event.result.output] : [])).join("\n");

const runOrder = async (
  place: Place,
  order: string,
  env: Readonly<Record<string, string>> = {},
  flags: string[] = [],
) => {
  const { stdout, exitCode } = await runProgram(["run", order, "--output-format", "events", ...flags], { place, env });
  return { exitCode, events: readEvents(stdout) };
};

describe.skipIf(!HAS_BWRAP)(title, () => {
  test.each([[[]], [["--yolo"]]])("a run with %j confines its commands, and says so", async (flags) => {
    const place = placeOutsideTemp();
    const { events, exitCode } = await runOrder(place, "run touch inside ../outside", {}, flags);
    expect([exitCode, sandboxOf(events)]).toEqual([0, ["bubblewrap"]]);
    expect(outputOf(events)).toContain("Read-only file system\n\n[The sandbox (bubblewrap) has refused");
    expect(readdirSync(place.workDir)).toEqual(["inside"]);
    expect(existsSync(join(place.workDir, "../outside"))).toBe(false);
  });

  test("with sandbox: off nothing is confined", async () => {
    const place = placeOutsideTemp();
    const { events } = await runOrder(place, "run touch ../outside", { HARNESS9_SANDBOX: "off" });
    expect(sandboxOf(events)).toEqual(["off"]);
    expect(existsSync(join(place.workDir, "../outside"))).toBe(true);
  });

  test("where none works, auto says off; one that the project brings does not count", async () => {
    const place = placeOutsideTemp();
    const fake = put(place.workDir, "bin/bwrap", "#!/bin/sh\nexit 0\n");
    chmodSync(fake, 0o755);
    mkdirSync(join(place.home, "bin"));
    const PATH = `${join(place.workDir, "bin")}:${join(place.home, "bin")}`;
    const { events } = await runOrder(place, "read none", { PATH });
    expect(sandboxOf(events)).toEqual(["off"]);
  });

  test("the settings widen it and cut the network; a project can only tighten it", async () => {
    const place = placeOutsideTemp();
    const wide = join(place.home, "wide");
    mkdirSync(wide);
    writeFileSync(join(place.home, "x"), "");
    put(place.home, ".harness9/config.json", '{"sandbox.writable": ["~/wide"]}');
    put(place.workDir, ".harness9/settings.json", '{"sandbox.network": "off", "sandbox.writable": ["~"]}');
    const order = "run touch ~/wide/x; touch ~/y; tail -n +3 /proc/net/dev | cut -d: -f1";
    const { events } = await runOrder(place, order);
    expect(readdirSync(wide)).toEqual(["x"]);
    expect(existsSync(join(place.home, "y"))).toBe(false);
    expect(outputOf(events)).toMatch(/\n +lo\n$/);
    await runOrder(place, order, {}, ["--trust"]);
    expect(existsSync(join(place.home, "y"))).toBe(true);
  });

  test("no key of harness9 is to be found from inside", async () => {
    const place = placeOutsideTemp();
    const script =
      "cat /proc/*/environ ~/.harness9/.env 2>/dev/null | tr '\\0' '\\n' | grep API_KEY; ls ~/.harness9; true";
    const server = await modelServer([toolCalls([bash(script)]), openAIAnswer("Done.")]);
    put(place.home, ".harness9/.env", "GROQ_API_KEY=another-key-0123456789\n");
    const { events } = await runOrder(place, "go", openAIEnv(server), ["--yolo"]);
    expect(outputOf(events)).toBe("Command succeeded without output.");
    expect(JSON.stringify(events)).not.toContain(KEY);
  });

  test("a long output that was kept can be read by the next command", async () => {
    const place = placeOutsideTemp();
    const { events } = await runOrder(
      place,
      "run seq 1 5000 then run cat ~/.harness9/sessions/*/*.outputs/* | tail -n 1",
    );
    expect(outputOf(events).trim().split("\n").at(-1)).toBe("5000");
  });

  test("the chat asks to run it outside, and what the person runs is not confined", async () => {
    const place = placeOutsideTemp();
    const server = await modelServer([toolCalls([bash("touch ../outside")]), openAIAnswer("Done.")]);
    const questions: Question[] = [];
    const ask: Ask = async (question) => {
      questions.push(question);
      return { decision: "allow", scope: "once" };
    };
    const surroundings = {
      env: { PATH: process.env["PATH"], HOME: place.home, ...openAIEnv(server) },
      cwd: place.workDir,
      homeDir: place.home,
    };
    const run: RunOptions = { guard: true, session: true, outputFormat: "text", permissionMode: "yolo" };
    const chat = await createChat(await prepare(surroundings, run), { run, version: "1", tell: () => undefined }, ask);
    onTestFinished(async () => void (await chat.close()));
    const { signal } = new AbortController();
    const events: EngineEvent[] = [];
    for await (const event of chat.session().run({ content: "go", source: "person" }, signal)) events.push(event);
    expect(questions).toMatchObject([{ kind: "permission", name: "bash", by: "sandbox", offers: [] }]);
    expect(outputOf(events)).toBe("Command succeeded without output.");
    expect(existsSync(join(place.workDir, "../outside"))).toBe(true);
    await chat.runShell("touch ../mine", signal, () => undefined);
    expect(existsSync(join(place.workDir, "../mine"))).toBe(true);
  });

  test("doctor has tried it", async () => {
    const { stdout } = await runProgram(["doctor"], { place: newPlace() });
    expect(stdout).toContain("✓ sandbox: bubblewrap confines: writes inside, none outside");
  });
});

test("doctor says what is missing and how to get it", async () => {
  const { stdout } = await runProgram(["doctor"], { place: newPlace(), env: { PATH: "/nowhere" } });
  if (process.platform === "linux")
    expect(stdout).toContain("! sandbox: bubblewrap was not found\n    install bubblewrap");
});

test.each(["run", "doctor"])("a sandbox that does not start is told with its own words by %s", async (command) => {
  const place = newPlace();
  const PATH = mkdtempSync("/var/tmp/harness9-");
  onTestFinished(() => rmSync(PATH, { recursive: true, force: true }));
  writeFileSync(join(PATH, "bwrap"), "#!/bin/sh\necho 'bwrap: not today' >&2; exit 1\n", { mode: 0o755 });
  const env = { PATH, HARNESS9_SANDBOX: "require" };
  const { exitCode, stdout, stderr } = await runProgram(command === "run" ? ["run", "read x"] : ["doctor"], {
    place,
    env,
  });
  if (process.platform === "linux") expect(stdout + stderr).toContain("bubblewrap does not start: bwrap: not today");
  expect(exitCode).toBe(command === "run" ? 52 : 1);
});

test("its settings can be set one by one, and shown", async () => {
  const place = newPlace();
  const run = (...args: string[]) => runProgram(["config", ...args], { place });
  await run("set", "sandbox", "require");
  await run("set", "sandbox.network", "off");
  await run("set", "sandbox.writable", "~/a");
  expect(JSON.parse(readFileSync(join(place.home, ".harness9/config.json"), "utf8"))).toEqual({
    sandbox: "require",
    "sandbox.network": "off",
    "sandbox.writable": ["~/a"],
  });
  const { stdout } = await run("list");
  expect(stdout).toMatch(/^sandbox .*require/m);
  expect(stdout).toMatch(/^sandbox\.network.*off/m);
  expect(stdout).toMatch(/^sandbox\.writable.*~\/a/m);
  put(place.home, ".harness9/config.json", '{"sandbox": {"network": "off"}}');
  expect((await run("get", "sandbox.network")).stdout).toContain("off");
});
