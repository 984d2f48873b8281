import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { openChat, say } from "../../helpers/chat.ts";
import type { PacedModel } from "../../helpers/paced-model.ts";
import { newPlace } from "../../helpers/program.ts";
import { eventually } from "../../helpers/run-bash.ts";
import type { Terminal } from "../../helpers/terminal.ts";

const PRELOAD = fileURLToPath(new URL("../../helpers/heap-preload.cjs", import.meta.url));
const MEGABYTE = 1024 * 1024;

test("2,000 calls and 10 MB of output leave a heap of at most 10 MB more than 200 calls", async () => {
  const place = newPlace();
  const heapFile = join(place.home, "heap");
  const files = { "notes.txt": Array.from({ length: 3000 }, (_, index) => `This is note ${index}.`).join("\n") };
  const { terminal, model } = await openChat({
    place,
    files,
    env: { HEAP_FILE: heapFile },
    nodeArguments: ["--expose-gc", "--require", PRELOAD],
    args: ["--permission-mode", "auto", "--max-turns", "1000"],
  });
  await makeCalls(terminal, model, { from: 0, calls: 200, megabytes: 1 });
  const early = await heapOf(terminal, heapFile);
  await makeCalls(terminal, model, { from: 200, calls: 1800, megabytes: 9 });
  const late = await heapOf(terminal, heapFile);
  expect((late - early) / MEGABYTE).toBeLessThan(10);
}, 120_000);

type Calls = { readonly from: number; readonly calls: number; readonly megabytes: number };

/** One run: 50 short reads a turn, a command with 1 MB of output as often as asked, and an answer. */
const makeCalls = async (terminal: Terminal, model: PacedModel, { from, calls, megabytes }: Calls): Promise<void> => {
  say(terminal, `from ${from}`);
  for (let done = 0; done < calls; done += 50) {
    const turn = await model.next();
    turn.callTools(
      ...Array.from(
        { length: 50 },
        (_, index) => ["read_file", { path: "notes.txt", offset: from + done + index + 1, limit: 20 }] as const,
      ),
    );
    turn.finish({ input: 10, output: 10 });
  }
  for (let done = 0; done < megabytes; done++) {
    const turn = await model.next();
    turn.callTools(["bash", { command: `seq ${from + done}000000 ${from + done}131072` }]);
    turn.finish({ input: 10, output: 10 });
  }
  (await model.next()).answer(`Answer after ${from}.`, { input: 10, output: 10 });
  await terminal.waitFor((shown) => shown.screen().includes(`● Answer after ${from}.`));
  await terminal.waitFor((shown) => !/esc to stop/.test(shown.screen()));
};

const heapOf = async (terminal: Terminal, file: string): Promise<number> => {
  const lines = (): string[] => (existsSync(file) ? readFileSync(file, "utf8").split("\n").slice(0, -1) : []);
  const before = lines().length;
  terminal.kill("SIGUSR2");
  await eventually(() => lines().length > before);
  return Number(lines().at(-1));
};
