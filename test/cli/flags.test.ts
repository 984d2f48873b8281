import { expect, test } from "vitest";
import { newPlace, put, runProgram } from "../helpers/program.ts";

test.each([
  [["--max-turns", "x"], "--max-turns: Invalid input: expected number, received string"],
  [["--max-time", "5"], "--max-time needs a unit, as in 5s or 5m"],
  [["--max-time", "2x"], "--max-time: as in 90s, 10m, 1h"],
  [["--max-cost", "-1"], "--max-cost: Too small: expected number to be >0"],
])("the value in %j is a usage error that names the flag", async (flags, message) => {
  const ended = await runProgram(["run", ...flags, "read a"], { place: newPlace() });
  expect(ended).toEqual({ exitCode: 2, stdout: "", stderr: `harness9: ${message}\n` });
});

test("what is wrong with a value is said in Chinese where everything is", async () => {
  const env = { LC_ALL: "zh_CN.UTF-8" };
  const { stderr } = await runProgram(["run", "--max-turns", "x", "read a"], { place: newPlace(), env });
  expect(stderr).toBe("harness9: --max-turns: 无效输入：期望 数字，实际接收 string\n");
});

test("a sandbox that is required and not there ends the run before it begins", async () => {
  const place = newPlace();
  put(place.home, ".harness9/config.json", '{"sandbox": "require"}');
  const { exitCode, stderr } = await runProgram(["run", "run touch ran"], { place, env: { PATH: place.home } });
  expect(exitCode).toBe(52);
  expect(stderr).toContain("sandbox: require");
  expect(stderr).toContain("install bubblewrap");
});

test("a misspelt variable is named with the one that was meant", async () => {
  const env = { HARNESS9_MAX_TURN: "3" };
  const { stderr } = await runProgram(["run", "write a: b"], { place: newPlace(), env });
  expect(stderr).toContain("unknown environment variable HARNESS9_MAX_TURN; did you mean HARNESS9_MAX_TURNS?");
});

test("what a project's .env may not say is told also where the run then fails", async () => {
  const place = newPlace();
  put(place.workDir, ".env", "ANTHROPIC_API_KEY=k\nANTHROPIC_BASE_URL=http://127.0.0.1:9\nANTHROPIC_MODEL=m\n");
  const { exitCode, stderr } = await runProgram(["run", "hello"], { place });
  expect(exitCode).toBe(52);
  expect(stderr).toContain("ANTHROPIC_MODEL");
});
