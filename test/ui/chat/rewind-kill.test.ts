import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { inputText, isReady, prepareChat, say } from "../../helpers/chat.ts";
import {
  jsonLines,
  openAIEnv,
  type Place,
  put,
  runProgram,
  sessionFolder,
  startProgram,
} from "../../helpers/program.ts";
import { AFTER, asked, bash, files, rewind, worked } from "../../helpers/rewinding.ts";
import { ctrl, startChat } from "../../helpers/terminal.ts";

const journalOf = (place: Place): string => {
  const [name = ""] = readdirSync(sessionFolder(place)).filter((one) => one.endsWith(".jsonl"));
  return join(sessionFolder(place), name);
};

const snapshots = (place: Place) =>
  jsonLines(readFileSync(journalOf(place), "utf8")).flatMap(({ type, at }) => (type === "snapshot" ? [at] : []));

test("what a killed run has changed can be taken back when its session goes on", async () => {
  const { place, model, env } = await prepareChat({ files: { "a.txt": "one\n" } });
  const running = startProgram(["run", "--yolo", "work"], { place, env });
  const request = await model.next();
  request.callTools(bash("echo two > a.txt; echo x > x.txt; sleep 60"));
  request.finish();
  await expect.poll(() => existsSync(join(place.workDir, "x.txt")), { timeout: 10_000 }).toBe(true);
  running.child.kill("SIGKILL");
  await running.ended;
  expect(snapshots(place)).toEqual(["before"]);

  const terminal = startChat(["-c"], { place, env, rows: 40 });
  await terminal.waitFor(isReady);
  await rewind({ terminal }, "1", "Back to before: work", "1");
  await terminal.waitFor(/back to before: work\s+conversation and 2 files/);
  expect([files({ place }), inputText(terminal)]).toEqual([{ "a.txt": "one\n" }, "work"]);
  expect(snapshots(place)).toEqual(["before", "after", "before", "after"]);
});

test("run takes the state after it before it ends", async () => {
  const { place, model, env } = await prepareChat();
  const ended = runProgram(["run", "--yolo", "work"], { place, env });
  const request = await model.next();
  request.callTools(bash("echo x > x.txt"));
  request.finish();
  (await model.next()).answer("Done.");
  expect(await ended).toEqual({ exitCode: 0, stdout: "Done.\n", stderr: "" });
  expect(snapshots(place)).toEqual(["before", "after"]);
});

test.each([
  ["--no-session", {}],
  ["rewind: false", { rewind: false }],
])("with %s nothing is kept", async (flag, settings) => {
  const { place, model, env } = await prepareChat({ settings });
  const flags = flag.startsWith("--") ? [flag] : [];
  const ended = runProgram(["run", "--yolo", ...flags, "work"], { place, env });
  const request = await model.next();
  request.callTools(bash("echo x > x.txt"));
  request.finish();
  (await model.next()).answer("Done.");
  expect((await ended).exitCode).toBe(0);
  expect(existsSync(join(place.home, ".harness9/snapshots"))).toBe(false);
});

test("a way back that was killed half way is done as far as it came, and redo brings all back", async () => {
  const chat = await worked();
  const { terminal, model, place } = chat;
  await rewind(chat, "3", "Back to before: first", "1");
  await terminal.waitFor(/back to before: first/);
  terminal.send(ctrl("u"));
  terminal.send(ctrl("d"));
  await terminal.exited;
  const lines = readFileSync(journalOf(place), "utf8").split("\n");
  const end = lines.findIndex((line) => line.startsWith('{"type":"rewind"'));
  writeFileSync(journalOf(place), `${lines.slice(0, end + 1).join("\n")}\n{"type":"snap`);
  put(place.workDir, "a.txt", "three\n");

  const again = startChat(["-c"], { place, env: openAIEnv(model), rows: 44 });
  await again.waitFor(isReady);
  expect(again.screen()).not.toContain("Done:");
  expect(again.screen()).toContain("restoring files was interrupted the last time");
  say(again, "/rewind");
  await asked(again, "take back the way back to before: first");
  again.send("1");
  await again.waitFor(/taken back: the way back to before: first/);
  expect(files(chat)).toEqual(AFTER);
  again.send(ctrl("d"));
  await again.exited;
  const env = openAIEnv(model);
  const shown = await runProgram(["sessions", "show", "last"], { place, env });
  expect(shown.stdout).toContain("Done: third.");
  expect(shown.stdout).not.toContain("gone back");
});
