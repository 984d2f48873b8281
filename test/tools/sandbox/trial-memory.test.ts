import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openSandbox } from "../../../src/tools/sandbox/open-sandbox.ts";
import { createTrialMemory } from "../../../src/tools/sandbox/trial-memory.ts";
import { policyFor, sandboxPlace } from "../../helpers/sandbox.ts";

/** A bwrap that starts nothing and counts how often it was to. */
const countingPlace = ({ exitCode = 0 } = {}) => {
  const place = sandboxPlace();
  const program = join(place.root, "bwrap");
  const log = join(place.root, "starts");
  writeFileSync(program, `#!/bin/sh\necho start >>'${log}'\nexit ${exitCode}\n`);
  chmodSync(program, 0o755);
  const file = join(place.root, "sandbox-trial");
  const open = (memory = createTrialMemory(file), writable: readonly string[] = []) =>
    openSandbox({
      ...policyFor(place, { writable }),
      env: { PATH: `${place.root}:/usr/bin:/bin` },
      platform: "linux",
      memory,
    });
  const starts = () => (existsSync(log) ? readFileSync(log, "utf8").split("\n").length - 1 : 0);
  return { program, file, open, starts };
};

describe.skipIf(process.platform !== "linux")("the memory of the sandbox's trial", () => {
  test("a sandbox that has been started is not tried again", async () => {
    const { open, starts } = countingPlace();
    expect((await open()).type).toBe("works");
    expect((await open()).type).toBe("works");
    expect(starts()).toBe(1);
  });

  test("another program is tried, and one that could not be put around a command", async () => {
    const { program, open, starts } = countingPlace();
    await open();
    utimesSync(program, 1_700_000_000, 1_700_000_000);
    const found = await open();
    expect(starts()).toBe(2);
    if (found.type === "works") found.sandbox.failed();
    await open();
    expect(starts()).toBe(3);
  });

  test("another policy is tried, and both are remembered", async () => {
    const { file, open, starts } = countingPlace();
    for (const writable of [[], ["/var"], [], ["/var"]]) await open(createTrialMemory(file), writable);
    expect(starts()).toBe(2);
  });

  test("what does not work is tried each time", async () => {
    const { file, open, starts } = countingPlace({ exitCode: 1 });
    expect((await open()).type).toBe("failed");
    expect((await open()).type).toBe("failed");
    expect([starts(), existsSync(file)]).toEqual([2, false]);
  });

  test("a file that is not ours says nothing, and one that cannot be written is done without", async () => {
    const { file, open, starts } = countingPlace();
    writeFileSync(file, "yes");
    await open();
    expect(starts()).toBe(1);
    const nowhere = createTrialMemory(join(file, "below-a-file"));
    expect([(await open(nowhere)).type, (await open(nowhere)).type, starts()]).toEqual(["works", "works", 3]);
    rmSync(file);
    execFileSync("mkfifo", [file]);
    expect([(await open()).type, (await open()).type, starts()]).toEqual(["works", "works", 5]);
  });
});
