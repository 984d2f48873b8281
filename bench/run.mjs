// The project's own benchmark: harness9 against the floor (bench/floor.cjs), run in turn against a scripted model on loopback.
// Exit 0: every gate is kept. 1: one is missed, or a program failed. 2: usage. docs/performance.md explains the figures.
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, loadavg, tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { SCENARIOS } from "./gates.mjs";
import { measureTimes, measureUsage } from "./measure.mjs";
import { startModelServer } from "./model-server.mjs";
import { figuresTable, gatesTable, judge } from "./report.mjs";
import { noteFiles } from "./scenarios.mjs";

const USAGE = `usage: npm run bench -- [--runs N] [--only SCENARIO,…] [--json FILE] [--add "NAME=COMMAND {prompt}"]…
  --runs N   measured runs of each program after one warm-up (default 7)
  --only     scenarios by the beginning of their names, as in hello,tools:20
  --json     writes every figure of every run to FILE
  --add      measures another agent's wall time too; it finds the server in OPENAI_BASE_URL and ANTHROPIC_BASE_URL`;

const REPOSITORY = dirname(dirname(fileURLToPath(import.meta.url)));
/** As many as bench:reads reads. */
const NOTES = 20;
const FLOOR = fileURLToPath(new URL("floor.cjs", import.meta.url));

const main = async () => {
  const options = readOptions();
  if (!existsSync(join(REPOSITORY, "dist", "cli.js"))) usageError("dist/ is not built: npm run build");
  // A home and a project do not lie in the temp folder, where commands may write.
  const root = mkdtempSync(join(existsSync("/var/tmp") ? "/var/tmp" : tmpdir(), "harness9-bench-"));
  const server = await startModelServer();
  try {
    const place = preparePlace(root, server);
    const samples = {};
    for (const scenario of options.scenarios) {
      process.stderr.write(`${scenario.name} …\n`);
      samples[scenario.name] = await measureAny(scenario, options, place);
    }
    process.exitCode = report(options, samples);
  } finally {
    server.close();
    rmSync(root, { recursive: true, force: true });
  }
};

const readOptions = () => {
  let values;
  try {
    ({ values } = parseArgs({
      options: {
        runs: { type: "string", default: "7" },
        only: { type: "string" },
        json: { type: "string" },
        add: { type: "string", multiple: true, default: [] },
      },
    }));
  } catch (error) {
    usageError(error.message);
  }
  const runs = Number(values.runs);
  if (!Number.isInteger(runs) || runs < 1) usageError("--runs takes a number from 1");
  const wanted = values.only?.split(",");
  const scenarios = SCENARIOS.filter(({ name }) => !wanted || wanted.some((start) => name.startsWith(start))).filter(
    ({ sandbox }) => sandbox !== "on" || hasSandbox(),
  );
  if (scenarios.length === 0) usageError(`--only: no such scenario; there are ${SCENARIOS.map(({ name }) => name)}`);
  return { runs, scenarios, json: values.json, added: values.add.map(readAdded) };
};

const hasSandbox = () => spawnSync("bwrap", ["--ro-bind", "/", "/", "--unshare-pid", "true"]).status === 0;

const readAdded = (text) => {
  const [, name, command] = /^([^=]+)=(.+)$/.exec(text) ?? usageError(`--add wants NAME=COMMAND, not ${text}`);
  return { name, words: command.trim().split(/\s+/) };
};

const usageError = (message) => {
  process.stderr.write(`bench: ${message}\n${USAGE}\n`);
  process.exit(2);
};

/** An empty home, a small project, a clean environment, and a copy of the program that no build can change meanwhile. */
const preparePlace = (root, server) => {
  const [workDir, home, temp, program] = ["work", "home", "tmp", "program"].map((name) => join(root, name));
  for (const folder of [workDir, home, temp, program]) mkdirSync(folder);
  for (const name of ["bin", "dist", "package.json"])
    cpSync(join(REPOSITORY, name), join(program, name), { recursive: true });
  for (const { name, text } of noteFiles(NOTES)) writeFileSync(join(workDir, name), text);
  const env = {
    PATH: [dirname(process.execPath), "/usr/local/bin", "/usr/bin", "/bin"].join(delimiter),
    HOME: home,
    TMPDIR: temp,
    LANG: "C.UTF-8",
    TERM: "xterm-256color",
    OPENAI_BASE_URL: `${server.origin}/v1`,
    OPENAI_API_KEY: "bench-key",
    OPENAI_MODEL: "bench",
    ANTHROPIC_BASE_URL: server.origin,
    ANTHROPIC_API_KEY: "bench-key",
    ANTHROPIC_MODEL: "bench",
  };
  spawnSync("git", ["init", "--quiet"], { cwd: workDir, env });
  return { root, server, workDir, env, bin: join(program, "bin", "harness9.js") };
};

// Three need packages, which the others do not.
const measureAny = async (scenario, options, place) => {
  if (scenario.isChat) return (await import("./chat.mjs")).measureChat(options.runs, place);
  if (scenario.isSnapshot) return (await import("./snapshot.mjs")).measureSnapshots(options.runs);
  if (scenario.isJournal) return (await import("./journal.mjs")).measureJournal(options.runs);
  return measureScenario(scenario, options, place);
};

/** Interleaved, each time in another order, so that a machine that gets slower is slow for all. Round -1 is the warm-up. */
const measureScenario = async (scenario, { runs, added }, place) => {
  const programs = listPrograms(scenario, added, place);
  const samples = Object.fromEntries(programs.map(({ name }) => [name, {}]));
  for (let round = -1; round < runs; round++) {
    for (let at = 0; at < programs.length; at++) {
      const program = programs[(at + round + 1) % programs.length];
      const figures = {
        ...(await measureTimes(program, place)),
        ...(!program.isAdded && (await measureUsage(program, place))),
      };
      if (round < 0) continue;
      const own = samples[program.name];
      for (const [measure, value] of Object.entries(figures)) own[measure] = [...(own[measure] ?? []), value];
    }
  }
  return samples;
};

const listPrograms = ({ prompt, dialect, sandbox }, added, { bin }) => {
  const node = process.execPath;
  if (prompt === null)
    return [
      { name: "harness9", command: [node, bin, "--version"], prompt },
      { name: "floor", command: [node, "-e", "0"], prompt },
    ];
  return [
    {
      name: "harness9",
      command: [node, bin, "run", "--provider", dialect, "--max-turns", "1000", prompt],
      prompt,
      env: sandbox === "off" ? { HARNESS9_SANDBOX: "off" } : {},
    },
    { name: "floor", command: [node, FLOOR, prompt], prompt, env: sandbox === "on" ? { FLOOR_SANDBOX: "1" } : {} },
    ...added.map(({ name, words }) => ({
      name,
      command: words.map((word) => word.replace("{prompt}", () => prompt)),
      prompt,
      isAdded: true,
    })),
  ];
};

const report = ({ runs, scenarios, json }, samples) => {
  const verdicts = judge(scenarios, samples);
  const load = `load ${loadavg()[0].toFixed(1)} on ${availableParallelism()} cores`;
  const machine = `Node ${process.version}, ${process.platform} ${process.arch}, ${load}`;
  console.log(
    `${runs} runs each, interleaved, after one warm-up; ${machine}. min / median (x = multiple of the floor).\n`,
  );
  console.log(`${figuresTable(samples)}\n\n${gatesTable(verdicts)}`);
  if (json !== undefined) writeFileSync(json, `${JSON.stringify({ machine, runs, samples, verdicts }, null, 2)}\n`);
  return verdicts.some(({ verdict }) => verdict === "over") ? 1 : 0;
};

try {
  await main();
} catch (error) {
  process.stderr.write(`bench: ${error.message}\n`);
  process.exitCode = 1;
}
