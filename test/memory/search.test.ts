import fc from "fast-check";
import { expect, test } from "vitest";
import { search } from "../../src/memory/search.ts";

const NOTES = [
  { title: "Run one test", text: "Run one test with `npx vitest run test/memory -t name`." },
  { title: "Deploy to staging", text: "Deployments go through `scripts/deploy.sh staging`; ask Mia first." },
  {
    title: "Path locks",
    text: "createPathLocks in src/tools/workspace/path-lock.ts: readers share, a writer excludes.",
  },
  { title: "snake_case columns", text: "The tables use max_read_bytes and user_id." },
  { title: "数据库迁移", text: "运行 npm run migrate，生产环境先备份数据库。" },
  { title: "代码风格", text: "缩进用两个空格，注释只写原因。" },
  { title: "用户偏好", text: "回答要简短，用中文。" },
  { title: "デプロイ手順", text: "サーバーの設定を確認してからデプロイする。" },
  { title: "Café hours", text: "The API quota resets at 09:00 UTC." },
] as const;

const level = (score: number): string =>
  score >= 0.8 ? "high" : score >= 0.6 ? "medium" : score >= 0.4 ? "low" : "weak";
const ask = async (question: string): Promise<readonly string[]> =>
  (await search(question, NOTES)).map(({ item, score }) => `${item.title}: ${level(score)}`);

test.each<[question: string, hits: readonly string[]]>([
  ["run one test", ["Run one test: high", "数据库迁移: weak"]],
  ["How do I run the tests?", ["Run one test: high", "数据库迁移: low"]],
  ["tset", []],
  ["deploymnet", ["Deploy to staging: medium"]],
  ["deploy", ["Deploy to staging: high"]],
  ["STAGING", ["Deploy to staging: high"]],
  ["ｄｅｐｌｏｙ", ["Deploy to staging: high"]],
  ["createPathLocks", ["Path locks: high"]],
  ["path lock", ["Path locks: high"]],
  ["PATH_LOCKS", ["Path locks: high"]],
  ["src/tools/workspace/path-lock.ts", ["Path locks: high"]],
  ["workspace", ["Path locks: high"]],
  ["max_read_bytes", ["snake_case columns: high"]],
  ["userId", ["snake_case columns: high"]],
  ["数据库迁移", ["数据库迁移: high"]],
  ["数据库怎么迁移？", ["数据库迁移: high"]],
  ["如何备份", ["数据库迁移: high"]],
  ["注释", ["代码风格: high"]],
  ["缩进", ["代码风格: high"]],
  ["用户的偏好是什么", ["用户偏好: high"]],
  ["npm run migrate", ["数据库迁移: high", "Run one test: weak"]],
  ["デプロイ", ["デプロイ手順: high"]],
  ["サーバーの設定", ["デプロイ手順: high"]],
  ["cafe\u0301 hours", ["Café hours: high"]],
  ["API quota", ["Café hours: high"]],
  ["kubernetes ingress", []],
  ["足球比赛", []],
  ["天気", []],
  ["", []],
  ["?!…", []],
  ["🚀", []],
])("%j finds %j", async (question, hits) => {
  expect(await ask(question)).toEqual(hits);
});

test("the title beats the text where both have all words", async () => {
  const items = [
    { title: "Notes", text: "the deploy key is in the vault" },
    { title: "Deploy key", text: "rotated in May" },
  ];
  expect((await search("deploy key", items)).map(({ item }) => item.title)).toEqual(["Deploy key", "Notes"]);
});

test("an entry is found by its own title, however many others there are, and by each of its lines", async () => {
  const word = fc.constantFrom(
    "alpha",
    "betaGamma",
    "数据库迁移",
    "テスト",
    "src/a-b.ts",
    "queries",
    "用户",
    "42",
    "naïve",
  );
  const title = fc.array(word, { minLength: 1, maxLength: 4 }).map((words) => words.join(" "));
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(title, { minLength: 1, maxLength: 8 }), async (titles) => {
      const items = titles.map((one, index) => ({ title: one, text: `entry ${index}` }));
      for (const item of items) {
        const hit = (await search(item.title, items)).find((one) => one.item === item);
        expect(hit?.score).toBeGreaterThanOrEqual(0.8);
      }
    }),
    { numRuns: 50 },
  );
});

test("any question and any text give scores above 0 and up to 1, the best first", async () => {
  const text = fc.oneof(fc.string(), fc.string({ unit: "binary" }), fc.constantFrom("数据库 migrate", "a.b/c_dE"));
  await fc.assert(
    fc.asyncProperty(text, fc.array(fc.record({ title: text, text }), { maxLength: 5 }), async (question, items) => {
      const scores = (await search(question, items)).map(({ score }) => score);
      expect(scores.every((score) => score > 0 && score <= 1)).toBe(true);
      expect(scores).toEqual(scores.toSorted((a, b) => b - a));
    }),
  );
});

// Where time grew with the square of the length, each would take minutes.
test.each([
  ["one mark", "-".repeat(200_000)],
  ["accents", "\u0301".repeat(200_000)],
  ["a path", "/:".repeat(100_000)],
  ["Chinese", "数据库".repeat(30_000)],
  ["Thai", "ก".repeat(100_000)],
])("much of %s is searched at once, in a question and in a text", async (_, much) => {
  const items = [{ title: "a", text: `deploy a${much}b` }];
  expect((await search("deploy", items)).length).toBe(1);
  await search(`deploy a${much}b`, [{ title: "a", text: "deploy" }]);
});
