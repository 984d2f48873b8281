import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { askTrust } from "../../src/cli/ask-trust.ts";
import { prepare } from "../../src/cli/setup.ts";
import { trustLines } from "../../src/cli/trust-lines.ts";
import type { Answer, Question } from "../../src/schema/ask.ts";
import { CONTROLS, newPlace, type Place, put } from "../helpers/program.ts";

const SIGNAL = new AbortController().signal;
const RULES = '{"allow": ["bash(touch:*)"]}';

const newProject = (): Place => {
  const place = newPlace();
  put(place.workDir, ".harness9/settings.json", RULES);
  return place;
};

const setupOf = ({ home, workDir }: Place, trust?: true) =>
  prepare(
    { env: {}, cwd: workDir, homeDir: home },
    { guard: true, session: true, outputFormat: "text", ...(trust && { trust }) },
  );

/** Opens a chat's setup for a person with one answer. */
const openFor = async (place: Place, answer: Answer, trust?: true) => {
  const asked: Question[] = [];
  const told: string[] = [];
  const setup = await askTrust(await setupOf(place, trust), {
    ask: async (question) => {
      asked.push(question);
      return answer;
    },
    tell: (text) => void told.push(text),
    signal: SIGNAL,
  });
  return { setup, asked, told };
};

test("the question lists what the folder asks for, and the first answer is no", async () => {
  const place = newProject();
  put(place.workDir, ".env", "\nOPENAI_BASE_URL=https://me:password@example.com/v1?key=secret\n");
  put(place.workDir, ".mcp.json", '{"mcpServers": {"a": {"command": "npx", "args": ["-y", "x"]}}}');
  const { asked } = await openFor(place, { dismissed: true });
  expect(asked).toEqual([
    {
      kind: "choice",
      title: `Do you trust this folder? ${place.workDir}`,
      text: `Its files ask for what follows. It counts only with your yes, and a change to it asks again.
.harness9/settings.json:1  allow
    bash(touch:*)
.env:2  OPENAI_BASE_URL  https://example.com/v1
.mcp.json:1  a  {"command":"npx","args":["-y","x"]}`,
      options: [
        { id: "distrust", label: "no, go on without it" },
        { id: "trust", label: "yes, all of it counts" },
        { id: "leave", label: "leave" },
      ],
    },
  ]);
});

test.each([
  ["trust", { trusted: true, askedAgain: 0 }],
  ["distrust", { trusted: false, askedAgain: 0 }],
  ["leave", { trusted: undefined, askedAgain: 1 }],
  ["dismissed", { trusted: false, askedAgain: 1 }],
] as const)("the answer '%s' gives %j", async (choice, expected) => {
  const place = newProject();
  const { setup, told } = await openFor(place, choice === "dismissed" ? { dismissed: true } : { choice });
  const again = await openFor(place, { dismissed: true });
  expect({ trusted: setup?.trusted, askedAgain: again.asked.length }).toEqual(expected);
  expect(setup?.config.settings.allow ?? []).toEqual(expected.trusted ? ["bash(touch:*)"] : []);
  expect(told).toEqual([]);
});

test("nobody is asked where nothing waits, and where the command line has said yes", async () => {
  const empty = await openFor(newPlace(), { choice: "trust" });
  const flag = await openFor(newProject(), { choice: "distrust" }, true);
  expect([empty.asked, empty.setup?.trusted]).toEqual([[], false]);
  expect([flag.asked, flag.setup?.trusted]).toEqual([[], true]);
});

test("a yes is to what was shown, not to what the files have become meanwhile", async () => {
  const place = newProject();
  const setup = await askTrust(await setupOf(place), {
    ask: async () => {
      put(place.workDir, ".harness9/settings.json", '{"allow": ["bash"], "addDirs": ["/"]}');
      return { choice: "trust" };
    },
    tell: () => undefined,
    signal: SIGNAL,
  });
  expect([setup?.config.settings.allow, setup?.config.settings.addDirs]).toEqual([["bash(touch:*)"], []]);
  expect((await openFor(place, { dismissed: true })).asked).toHaveLength(1);
});

test("an answer that cannot be kept counts for this chat and says so", async () => {
  const place = newProject();
  writeFileSync(join(place.home, ".harness9"), "");
  const { setup, told } = await openFor(place, { choice: "trust" });
  expect(setup?.trusted).toBe(true);
  expect(told).toEqual([expect.stringContaining("could not keep your answer about this folder")]);
});

test("a value that cannot be used is an error, and no yes is kept", async () => {
  const place = newPlace();
  put(place.workDir, ".env", "HARNESS9_LANGUAGE=klingon\n");
  await expect(openFor(place, { choice: "trust" })).rejects.toThrow("HARNESS9_LANGUAGE: language");
  expect(() => readFileSync(join(place.home, ".harness9", "trust.json"))).toThrow("ENOENT");
});

test("no value can draw a row of its own, hide a part of itself or drive the terminal", () => {
  const text = fc.oneof(
    fc.string(),
    fc.string({ unit: "binary" }),
    fc.constantFrom("a\n    b", "x\u202ey", "\x1b[2J", "\r"),
  );
  fc.assert(
    fc.property(text, fc.oneof(text, fc.array(text), fc.dictionary(text, text)), (name, value) => {
      const rows = trustLines([{ origin: "/w/.env:1", name, value }], "/w");
      expect(rows).toHaveLength(Array.isArray(value) ? value.length + 1 : 1);
      for (const row of rows) expect(row).not.toMatch(new RegExp(`${CONTROLS.source}|[\\n\\t\\u202e\\u200b]`));
    }),
  );
});
