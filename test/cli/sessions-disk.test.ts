import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { modelServer, openAIAnswer } from "../helpers/model-server.ts";
import { newPlace, openAIEnv, runProgram } from "../helpers/program.ts";

const canMount = process.getuid?.() === 0 && process.platform === "linux";
const DONE = openAIAnswer("Done.", "stop", { prompt_tokens: 10, completion_tokens: 5 });

const system = (program: string, ...args: readonly string[]): void => void execFileSync(program, args);

/** Takes all that is left of a disk. */
const fill = (disk: string): void => {
  const { bavail, bsize } = statfsSync(disk);
  writeFileSync(join(disk, "filler"), Buffer.alloc(bavail * bsize));
};

test.runIf(canMount)(
  "on a full disk a session begins and goes on without a journal, and leaves no lock behind",
  async (context) => {
    const place = newPlace();
    const disk = join(place.home, "disk");
    mkdirSync(disk);
    try {
      system("mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", disk);
    } catch {
      context.skip("this system mounts nothing for us");
    }
    try {
      const server = await modelServer([DONE]);
      const env = { ...openAIEnv(server), HARNESS9_HOME: join(disk, "h9") };
      const run = (...args: readonly string[]) => runProgram(["run", ...args], { place, env });
      expect((await run("first")).stderr).toBe("");
      const sessions = join(disk, "h9", "sessions");
      const folder = join(sessions, readdirSync(sessions)[0] ?? "");
      const [journal = ""] = readdirSync(folder).filter((name) => name.endsWith(".jsonl"));
      const before = readFileSync(join(folder, journal), "utf8");
      fill(disk);
      for (const args of [["-c", "next"], ["new"]]) {
        const ended = await run(...args);
        expect([ended.exitCode, ended.stdout]).toEqual([0, "Done.\n"]);
        expect(ended.stderr).toContain("no space left on device");
        expect(ended.stderr).not.toMatch(/\n\s+at /);
      }
      // What the lines before it say still stands.
      expect(readFileSync(join(folder, journal), "utf8").startsWith(before)).toBe(true);
      expect(readdirSync(folder).filter((name) => name.includes(".lock"))).toEqual([]);
      const usage = await runProgram(["usage", "--json"], { place, env });
      expect(JSON.parse(usage.stdout)).toMatchObject({ total: { requests: 1 } });
    } finally {
      system("umount", disk);
    }
  },
);
