import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { SETTING_SCHEMAS } from "../../src/config/settings.ts";
import { tempDir } from "../helpers/temp-dir.ts";
import { codeBlocks, tableUnder } from "./markdown.ts";

const page = readFileSync(new URL("../../docs/hooks.md", import.meta.url), "utf8");
const block = (language: string): string => codeBlocks(page).find((one) => one.language === language)?.text ?? "";

test("the setting of the page is valid, and its tables have every key and event", () => {
  const hooks = SETTING_SCHEMAS.hooks();

  expect(hooks.safeParse(JSON.parse(block("json")).hooks).error?.issues).toBeUndefined();
  const { shape } = hooks.unwrap().element;
  expect(tableUnder(page, "Hooks").map(([key]) => key)).toEqual(Object.keys(shape));
  expect(tableUnder(page, "What a hook is told").map(([event]) => event)).toEqual(shape.on.options);
});

test.each([
  ["npm publish", 2, "", "Publishing is done by the release workflow. Push a tag instead.\n"],
  ["git push origin main", 0, '{"decision":"ask","reason":"pushes to the remote"}\n', ""],
  ["npm test", 0, "", ""],
])("the example answers to %s as the page says", (command, status, stdout, stderr) => {
  const file = join(tempDir(), "no-publish.cjs");
  writeFileSync(file, block("js"));

  const ended = spawnSync(process.execPath, [file], {
    input: JSON.stringify({ arguments: { command } }),
    encoding: "utf8",
  });
  expect({ status: ended.status, stdout: ended.stdout, stderr: ended.stderr }).toEqual({ status, stdout, stderr });
});
