import { expect, test } from "vitest";
import { modelServer, openAIAnswer } from "../helpers/model-server.ts";
import { bash, newPlace, openAIEnv, put, readLog, runProgram, toolCalls } from "../helpers/program.ts";

const observe = async (env: Readonly<Record<string, string>>, settings = "{}") => {
  const server = await modelServer([toolCalls([["nope", {}], bash("")]), openAIAnswer("Done.")]);
  const place = newPlace();
  put(place.home, ".harness9/config.json", settings);
  const ended = await runProgram(["run", "--max-turns", "1", "hello"], {
    place,
    env: { ...openAIEnv(server), ...env },
  });
  return { stderr: ended.stderr, log: readLog(place) };
};

test("people and the model read Chinese under a Chinese locale, else English; the first variable that is set decides", async () => {
  const zh = "harness9: 已达最大 Turn 数 (1)，循环终止\n";
  const en = "harness9: reached the turn limit (1), stopped\n";
  const rows = await Promise.all([
    observe({ LC_ALL: "zh_CN.UTF-8" }),
    observe({ LC_ALL: "", LC_MESSAGES: "zh_TW", LANG: "en_US.UTF-8" }),
    observe({ LANG: "zh_CN.UTF-8" }),
    observe({ LANG: "en_US.UTF-8" }, '{"language": "zh"}'),
    observe({ LANG: "en_US.UTF-8", HARNESS9_LANGUAGE: "zh" }),
    observe({}),
    observe({ LC_ALL: "C", LANG: "zh_CN.UTF-8" }),
    observe({ LC_ALL: "de_DE.UTF-8" }),
    observe({ LC_ALL: "zh_CN.UTF-8" }, '{"language": "en"}'),
  ]);
  expect(rows.map(({ stderr }) => stderr)).toEqual([zh, zh, zh, zh, zh, en, en, en, en]);
  const results = rows.map(({ log }) => [
    log.includes("系统中不存在名为 'nope' 的工具"),
    log.includes("命令为空字符串"),
  ]);
  expect(results).toEqual([...Array(5).fill([true, true]), ...Array(4).fill([false, false])]);
});

test("the log's labels are the same in every language", async () => {
  const labels = /启动 │|工具启动 │|工具失败 │|Observation 注入完成 │|循环结束 │|Phase 2: Action|contextMessages=2$/gm;
  const [zh, en] = await Promise.all([observe({ LC_ALL: "zh_CN.UTF-8" }), observe({ LC_ALL: "en_US.UTF-8" })]);
  const found = zh.log.match(labels)?.toSorted();
  expect(found).toHaveLength(9);
  expect(en.log.match(labels)?.toSorted()).toEqual(found);
  for (const line of zh.log.trimEnd().split("\n"))
    expect(line).toMatch(/^(\d{4}\/\d\d\/\d\d \d\d:\d\d:\d\d \[engine\] | {8})/);
});

test("failures to start speak the language of the locale, and of HARNESS9_LANGUAGE", async () => {
  const place = newPlace();
  const run = (env: Readonly<Record<string, string>>) => runProgram(["run", "-C", "nowhere", "hi"], { place, env });
  const rows = await Promise.all([run({ LANG: "zh_CN.UTF-8" }), run({ HARNESS9_LANGUAGE: "zh" }), run({})]);
  expect(rows.map(({ stderr }) => /[一-龥]/.test(stderr))).toEqual([true, true, false]);
});
