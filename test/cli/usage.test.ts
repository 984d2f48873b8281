import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { expect, test } from "vitest";
import { type ModelServer, modelServer, openAIAnswer } from "../helpers/model-server.ts";
import {
  bash,
  newPlace,
  openAIEnv,
  type Place,
  put,
  runProgram,
  sessionFolder,
  startProgram,
  toolCalls,
} from "../helpers/program.ts";

const PRICES = { input: 1000, output: 10_000, cacheRead: 100, cacheWrite: 1000 };
const DONE = openAIAnswer("Done.", "stop", {
  prompt_tokens: 30,
  completion_tokens: 5,
  prompt_tokens_details: { cached_tokens: 20 },
  completion_tokens_details: { reasoning_tokens: 2 },
});

/** Of one request: 10 × $0.001 + 20 × $0.0001 + 5 × $0.01. */
const COST = 0.062;
const used = (requests: number) => ({
  inputTokens: 10 * requests,
  outputTokens: 5 * requests,
  cacheReadTokens: 20 * requests,
  cacheWriteTokens: 0,
  reasoningTokens: 2 * requests,
});

const priced = (): Place => {
  const place = newPlace();
  put(place.home, ".harness9/config.json", JSON.stringify({ models: { "openai/test-model": { prices: PRICES } } }));
  return place;
};

const run = (place: Place, server: ModelServer, ...args: readonly string[]) =>
  runProgram(["run", ...args, "go"], { place, env: openAIEnv(server) });

const usage = async (place: Place, ...args: readonly string[]) => {
  const ended = await runProgram(["usage", ...args], { place });
  expect(ended.exitCode).toBe(0);
  return ended;
};

const usageJson = async (place: Place, ...args: readonly string[]) =>
  JSON.parse((await usage(place, "--json", ...args)).stdout) as Readonly<Record<string, unknown>>;

const newestJournal = (place: Place): string => {
  const folder = sessionFolder(place);
  const name = readdirSync(folder)
    .filter((one) => one.endsWith(".jsonl"))
    .sort()
    .at(-1);
  return join(folder, name ?? "");
};

test("sessions, what goes on in them and forks add up, each request once", async () => {
  const place = priced();
  const server = await modelServer([DONE]);
  await run(place, server);
  await run(place, server, "-c");
  await run(place, server, "-c", "--fork");
  const row = { requests: 3, turns: 3, usage: used(3), costUsd: 3 * COST, knownCostUsd: 3 * COST };
  const [byModel, byProject, byDay] = await Promise.all([
    usageJson(place, "--by", "model"),
    usageJson(place, "--by", "project"),
    usage(place),
  ]);
  expect(byModel).toEqual({
    by: "model",
    since: null,
    rows: [{ model: "openai/test-model", ...row }],
    total: row,
    problems: [],
  });
  expect(byProject["rows"]).toEqual([{ project: place.workDir, ...row }]);
  const [, day = ""] = /^(\d{4}-\d{2}-\d{2}) /m.exec(byDay.stdout) ?? [];
  expect(byDay.stdout).toBe(
    [
      "day            cost  requests  turns  input  output  cache read  cache write  reasoning",
      `${day}  $0.1860         3      3     30      15          60            0          6`,
      "total       $0.1860         3      3     30      15          60            0          6",
      "",
    ].join("\n"),
  );
});

test("an unknown price is unknown, and beside known ones the known part is told", async () => {
  const place = priced();
  const server = await modelServer([DONE]);
  await run(place, server);
  await run(place, server, "-m", "other-model");
  const rows = (await usage(place, "--by", "model")).stdout.split("\n").map((row) => row.split(/ {2,}/).slice(0, 2));
  expect(rows).toEqual([
    ["model", "cost"],
    ["openai/other-model", "unknown"],
    ["openai/test-model", "$0.0620"],
    ["total", "$0.0620 + unknown"],
    [""],
  ]);
  expect((await usageJson(place))["total"]).toMatchObject({ costUsd: null, knownCostUsd: COST });
});

test("after kill -9 in a run, what it had used counts", async () => {
  const place = priced();
  const server = await modelServer([toolCalls([bash("touch started; sleep 20")])]);
  const program = startProgram(["run", "go"], { place, env: openAIEnv(server) });
  await expect.poll(() => existsSync(join(place.workDir, "started")), { timeout: 20_000 }).toBe(true);
  program.child.kill("SIGKILL");
  await program.ended;
  expect((await usageJson(place))["total"]).toMatchObject({ requests: 1, turns: 1 });
});

test("a journal of a newer version, one that cannot be read and lines that are damaged are named; the rest counts", async () => {
  const place = priced();
  const server = await modelServer([DONE]);
  await run(place, server);
  const journal = newestJournal(place);
  const folder = dirname(journal);
  const newer = '{"type":"session","version":99,"id":"x","workDir":"/","createdAt":"","harness9":"9"}\n';
  writeFileSync(join(folder, "20200101-000000-newr.jsonl"), newer);
  mkdirSync(join(folder, "20200102-000000-dirx.jsonl"));
  writeFileSync(journal, readFileSync(journal, "utf8").replace('"type":"usage.updated"', '"type":"usage.updated",,'));
  const ended = await usage(place, "--json");
  expect(JSON.parse(ended.stdout)).toMatchObject({ total: { requests: 0, usage: used(1), costUsd: COST } });
  const problems = (JSON.parse(ended.stdout) as { readonly problems: readonly string[] }).problems;
  expect(problems.map((text) => text.replaceAll(folder, "…"))).toEqual([
    `…/${basename(journal)}: skipped 1 line that cannot be understood`,
    "cannot read …/20200102-000000-dirx.jsonl: illegal operation on a directory; not counted",
    "a newer harness9 wrote the session 20200101-000000-newr (version 99); update to read it; not counted",
  ]);
  for (const problem of problems) expect(ended.stderr).toContain(problem);
});

test("--since counts by local days, wherever one is", async () => {
  const place = priced();
  const server = await modelServer([DONE]);
  await run(place, server);
  const journal = newestJournal(place);
  // 23:30 of the first in Shanghai is the same day in UTC; an hour later it is another day there.
  const moved = readFileSync(journal, "utf8").replace(/"time":"[^"]*"/g, '"time":"2026-03-01T16:30:00.000Z"');
  writeFileSync(journal, moved);
  const total = async (zone: string, since: string): Promise<unknown> => {
    const ended = await runProgram(["usage", "--json", "--since", since], { place, env: { TZ: zone } });
    const { rows } = JSON.parse(ended.stdout) as { readonly rows: readonly { readonly day: string }[] };
    return rows.map(({ day }) => day);
  };
  expect(await total("UTC", "2026-03-01")).toEqual(["2026-03-01"]);
  expect(await total("UTC", "2026-03-02")).toEqual([]);
  expect(await total("Asia/Shanghai", "2026-03-02")).toEqual(["2026-03-02"]);
});

test("nothing used is said; a wrong value is wrong usage", async () => {
  const place = newPlace();
  const said = await Promise.all([usage(place), usage(place, "--since", "1d")]);
  expect(said.map(({ stdout }) => stdout)).toEqual(["nothing has been used yet\n", "nothing has been used since 1d\n"]);
  const wrong = [
    ["--since", "yesterday"],
    ["--since", "2026-02-30"],
    ["--by", "week"],
  ] as const;
  for (const ended of await Promise.all(wrong.map((args) => runProgram(["usage", ...args], { place }))))
    expect([ended.exitCode, ended.stdout]).toEqual([2, ""]);
});
