import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { ConfigError } from "../../src/config/config-error.ts";
import { readTrust, saveDecision, saveProjectRule } from "../../src/config/trust.ts";
import { projectServers, type TrustItem, trustDigest } from "../../src/config/trust-items.ts";
import { en } from "../../src/text/en.ts";
import { tempDir } from "../helpers/temp-dir.ts";

const strings = en.config;
const TIME = new Date("2026-03-04T05:06:07Z");

const place = (text?: string) => {
  const path = join(tempDir(), ".harness9", "trust.json");
  if (text !== undefined) {
    mkdirSync(dirname(path), { mode: 0o755 });
    writeFileSync(path, text);
    chmodSync(path, 0o644);
  }
  return { path, workDir: "/home/me/app.js", strings };
};

const written = (path: string): unknown => JSON.parse(readFileSync(path, "utf8"));

test("a folder that nobody has spoken of has no record", async () => {
  const file = place();
  expect(await readTrust(file)).toEqual({ allow: [], deny: [], origin: file.path });
});

test("an answer is kept by the folder's real path, where only the person can read it", async () => {
  const file = place();
  await saveDecision(file, { trusted: true, digest: "abc", time: TIME });
  expect(written(file.path)).toEqual({
    "/home/me/app.js": { trusted: true, digest: "abc", decidedAt: "2026-03-04T05:06:07.000Z", allow: [], deny: [] },
  });
  expect([statSync(file.path).mode & 0o777, statSync(dirname(file.path)).mode & 0o777]).toEqual([0o600, 0o700]);
});

test("an answer keeps the folder's rules, the other folders and the comments, and what was readable no longer is", async () => {
  const file = place(`{
  // mine
  "/home/me/other": {"trusted": true, "digest": "x"},
  "/home/me/app.js": {"trusted": true, "digest": "old", "allow": ["bash(npm test:*)"]}
}`);
  await saveDecision(file, { trusted: false, digest: "new", time: TIME });
  expect(readFileSync(file.path, "utf8")).toContain('// mine\n  "/home/me/other": {"trusted": true, "digest": "x"},');
  expect(await readTrust(file)).toMatchObject({ trusted: false, digest: "new", allow: ["bash(npm test:*)"], deny: [] });
  expect(statSync(file.path).mode & 0o777).toBe(0o600);
});

test("rules are added once, in their order, and say where they stand", async () => {
  const file = place('{\n  "/home/me/app.js": {}\n}\n');
  expect(await saveProjectRule(file, "allow", "bash(npm test:*)")).toBe(`${file.path}:2`);
  await saveProjectRule(file, "allow", "edit_file(src/**)");
  await saveProjectRule(file, "allow", "bash(npm test:*)");
  await saveProjectRule(file, "deny", "bash(git push:*)");
  expect(await readTrust(file)).toEqual({
    allow: ["bash(npm test:*)", "edit_file(src/**)"],
    deny: ["bash(git push:*)"],
    origin: `${file.path}:2`,
  });
});

test.each([
  ["no JSON", "{", ":1: JSON syntax error"],
  ["a list", "[]", ":1: expected a JSON object"],
  ["a record that is none", '{\n"/home/me/app.js": 1}', ":2: /home/me/app.js:"],
  ["rules that are none", '{"/home/me/app.js": {"allow": [1]}}', ":1: /home/me/app.js.allow.0:"],
])("%s is an error that names the place, and is not written over", async (_what, text, said) => {
  const file = place(text);
  for (const attempt of [() => readTrust(file), () => saveProjectRule(file, "allow", "bash")]) {
    const error = await attempt().catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ConfigError);
    expect((error as ConfigError).message).toContain(`${file.path}${said}`);
  }
  expect(readFileSync(file.path, "utf8")).toBe(text);
});

test("another folder's broken record is nobody's business here", async () => {
  const file = place('{"/elsewhere": 1}');
  expect(await readTrust(file)).toMatchObject({ allow: [] });
});

const item = fc.record({
  path: fc.string({ minLength: 1 }),
  line: fc.nat(),
  name: fc.string(),
  value: fc.jsonValue(),
});
const items = (drawn: readonly { path: string; line: number; name: string; value: unknown }[]): TrustItem[] =>
  drawn.map(({ path, line, name, value }) => ({ origin: `${path}:${line}`, name, value }));

test("the digest changes with what is asked for, and not with the lines that it stands on", () => {
  fc.assert(
    fc.property(fc.array(item), fc.nat(), fc.array(item), (drawn, moved, others) => {
      const moves = drawn.map((one) => ({ ...one, line: one.line + moved }));
      expect(trustDigest(items(moves))).toBe(trustDigest(items(drawn)));
      const isSame = JSON.stringify(drawn.map(({ line: _, ...rest }) => rest));
      const other = JSON.stringify(others.map(({ line: _, ...rest }) => rest));
      expect(trustDigest(items(others)) === trustDigest(items(drawn))).toBe(isSame === other);
    }),
  );
});

test("the servers of .mcp.json are named with all that they would run", async () => {
  const workDir = tempDir();
  const path = join(workDir, ".mcp.json");
  expect(await projectServers(workDir, strings)).toEqual([]);
  writeFileSync(path, '{\n"mcpServers": {"a": {"command": "npx", "args": ["-y", "x"]}, "b": {"url": "http://x"}}}');
  expect(await projectServers(workDir, strings)).toEqual([
    { origin: `${path}:2`, name: "a", value: { command: "npx", args: ["-y", "x"] } },
    { origin: `${path}:2`, name: "b", value: { url: "http://x" } },
  ]);
  for (const text of ["{", "[]", "{}", '{"mcpServers": 1}', '{"mcpServers": null}', ""]) {
    writeFileSync(path, text);
    expect(await projectServers(workDir, strings)).toEqual([]);
  }
});
