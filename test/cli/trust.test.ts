import { existsSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { hostileRepository } from "../helpers/hostile-repository.ts";
import { modelServer, openAIAnswer } from "../helpers/model-server.ts";
import { bash, KEY, newPlace, openAIEnv, type Place, put, runProgram, toolCalls } from "../helpers/program.ts";

const trustFile = ({ home }: Place): string => join(home, ".harness9", "trust.json");
const records = (place: Place): unknown => JSON.parse(readFileSync(trustFile(place), "utf8"));

const RULES = '{\n  "allow": ["bash(cat .env)"]\n}\n';

/** Reading `.env` is refused in `run`, unless a rule names it. */
const readsSecret = async (place: Place, args: readonly string[] = []): Promise<boolean> => {
  const server = await modelServer([toolCalls([bash("cat .env")]), openAIAnswer("Done.")]);
  await runProgram(["run", ...args, "go"], { place, env: openAIEnv(server) });
  expect(server.requests).toHaveLength(2);
  return !JSON.stringify(server.requests[1]?.body).includes("denied by policy");
};

const newProject = (): Place => {
  const place = newPlace();
  put(place.workDir, ".harness9/settings.json", RULES);
  put(place.workDir, ".env", "# nothing\n");
  return place;
};

test("run in a hostile repository runs nothing, sends no key, and says what it ignored", async () => {
  const place = newPlace();
  const evil = await modelServer([openAIAnswer("owned")]);
  const repository = hostileRepository(place, evil);
  const { exitCode, stderr } = await runProgram(["run", "hello"], { place, env: { OPENAI_API_KEY: KEY } });
  expect(exitCode).toBe(41);
  for (const what of ["'allow'", "'addDirs'", "'hooks'", "ANTHROPIC_BASE_URL", "HARNESS9_PROVIDER", "'tools'"])
    expect(stderr).toMatch(new RegExp(`ignored (the server )?${what}: this folder is not trusted`));
  for (const key of ["permissionMode", "providers", "baseUrl", "telemetry"])
    expect(stderr).toContain(`ignored '${key}'`);
  expect([repository.hasRun(), evil.requests]).toEqual([false, []]);
  expect(existsSync(trustFile(place))).toBe(false);
});

test("with a model of the person's own, run works there by the person's rules, and git runs no program of the repository's", async () => {
  const place = newPlace();
  const evil = await modelServer([openAIAnswer("owned")]);
  const repository = hostileRepository(place, evil);
  const model = await modelServer([toolCalls([bash("cat .env"), bash("git status")]), openAIAnswer("Done.")]);
  const { stdout } = await runProgram(["run", "hello"], { place, env: openAIEnv(model) });
  expect(stdout).toBe("Done.\n");
  expect(JSON.stringify(model.requests[1]?.body)).toContain("denied by policy");
  expect([repository.hasRun(), evil.requests]).toEqual([false, []]);
});

test.each(["config", "tools", "doctor", "trust --revoke"])(
  "harness9 %s starts nothing in a hostile repository",
  async (command) => {
    const place = newPlace();
    const evil = await modelServer([openAIAnswer("owned")]);
    const repository = hostileRepository(place, evil);
    await runProgram(command.split(" "), {
      place,
      env: { ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: "http://127.0.0.1:9" },
    });
    const keys = evil.requests.filter(({ headers }) => JSON.stringify(headers).includes(KEY));
    expect([repository.hasRun(), keys]).toEqual([false, []]);
  },
);

test("trust says what counts from now on, and a change asks again", async () => {
  const place = newProject();
  expect(await readsSecret(place)).toBe(false);
  const { exitCode, stdout } = await runProgram(["trust"], { place });
  expect([exitCode, stdout]).toEqual([
    0,
    `trusted: ${place.workDir} (kept in ${trustFile(place)})
What counts from now on, until it changes:
  .harness9/settings.json:2  allow
      bash(cat .env)
`,
  ]);
  expect(records(place)).toEqual({
    [place.workDir]: {
      trusted: true,
      digest: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
      decidedAt: expect.stringMatching(/^\d{4}-.*Z$/) as string,
      allow: [],
      deny: [],
    },
  });
  expect(statSync(trustFile(place)).mode & 0o777).toBe(0o600);
  expect(await readsSecret(place)).toBe(true);
  put(place.workDir, ".harness9/settings.json", `\n\n// a comment is no change\n${RULES}`);
  expect(await readsSecret(place)).toBe(true);
  put(place.workDir, ".harness9/settings.json", RULES.replace("]", ', "bash(curl:*)"]'));
  expect(await readsSecret(place)).toBe(false);
});

test("--revoke takes the trust back, and the person's own rules stay", async () => {
  const place = newProject();
  await runProgram(["trust"], { place });
  const file = trustFile(place);
  writeFileSync(file, readFileSync(file, "utf8").replace('"allow": []', '"allow": ["bash(cat .env)"]'));
  const { stdout } = await runProgram(["trust", "--revoke"], { place });
  expect(stdout).toBe(`not trusted: ${place.workDir} (kept in ${file})
What does not count:
  .harness9/settings.json:2  allow
      bash(cat .env)
1 rule that you have saved for this folder still count: ${file}:2
`);
  expect(await readsSecret(place)).toBe(true);
  writeFileSync(file, readFileSync(file, "utf8").replace('"bash(cat .env)"', ""));
  expect(await readsSecret(place)).toBe(false);
});

test("--trust is for one start", async () => {
  const place = newProject();
  expect(await readsSecret(place, ["--trust"])).toBe(true);
  expect(existsSync(trustFile(place))).toBe(false);
  expect(await readsSecret(place)).toBe(false);
});

test("trust is the folder's, by whatever name it is entered, and no other's", async () => {
  const place = newProject();
  const link = join(place.home, "link");
  symlinkSync(place.workDir, link);
  await runProgram(["-C", "link", "trust"], { place, cwd: place.home });
  expect(await readsSecret(place)).toBe(true);
  const other = newProject();
  put(other.home, ".harness9/trust.json", readFileSync(trustFile(place), "utf8"));
  expect(await readsSecret(other)).toBe(false);
});

test("a folder that holds nothing can be trusted all the same", async () => {
  const place = newPlace();
  expect(await runProgram(["trust"], { place })).toEqual({
    exitCode: 0,
    stdout: `trusted: ${place.workDir} (kept in ${trustFile(place)})\nNothing in this folder waits for trust at the moment; what comes later asks again.\n`,
    stderr: "",
  });
});

test("a trust file that nobody can read stops the start and says where", async () => {
  const place = newProject();
  put(place.home, ".harness9/trust.json", "{");
  const { exitCode, stderr } = await runProgram(["run", "go"], { place });
  expect([exitCode, stderr]).toEqual([52, expect.stringContaining(`${trustFile(place)}:1: JSON syntax error`)]);
});

test("a value that only trust would switch on, and that cannot be used, is said instead of trusting it", async () => {
  const place = newPlace();
  put(place.workDir, ".env", "OPENAI_BASE_URL=ftp://x\n");
  const { exitCode, stderr } = await runProgram(["trust"], { place });
  expect([exitCode, stderr]).toEqual([52, expect.stringContaining("OPENAI_BASE_URL")]);
  expect(existsSync(trustFile(place))).toBe(false);
});
