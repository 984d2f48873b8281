import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ConfigError } from "../../src/config/config-error.ts";
import { readDotenv } from "../../src/config/dotenv.ts";
import {
  type KnownProvider,
  resolveSecrets,
  type Secrets,
  secretValues,
  secretVariableNames,
  storeKey,
} from "../../src/config/secrets.ts";
import { readVariables, type Variables } from "../../src/config/variables.ts";
import { en } from "../../src/text/en.ts";
import { tempDir } from "../helpers/temp-dir.ts";

const VENDOR = "https://api.openai.com/v1";
const OPENAI: KnownProvider = {
  name: "openai",
  baseUrl: VENDOR,
  keyVariable: "OPENAI_API_KEY",
  baseUrlVariable: "OPENAI_BASE_URL",
  modelVariable: "OPENAI_MODEL",
};
const CUSTOM: KnownProvider = {
  name: "mine",
  baseUrl: "https://llm.example/v1",
  keyVariable: "MY_KEY",
  baseUrlVariable: null,
  modelVariable: null,
};

type Places = { readonly env?: Record<string, string>; readonly home?: string; readonly project?: string };

const read = async (dir: string, { env = {}, home, project }: Places): Promise<Variables> => {
  mkdirSync(join(dir, "home"), { recursive: true });
  if (home !== undefined) writeFileSync(join(dir, "home", ".env"), home);
  if (project !== undefined) writeFileSync(join(dir, ".env"), project);
  return readVariables({
    env,
    homeDotenv: join(dir, "home", ".env"),
    projectDotenv: join(dir, ".env"),
    strings: en.config,
  });
};

const resolve = async (dir: string, places: Places, trusted: boolean): Promise<Secrets> =>
  resolveSecrets({ variables: await read(dir, places), providers: [OPENAI, CUSTOM], trusted, strings: en.config });

const GATEWAY = "https://gateway.example/v1";
const LOCAL = "http://127.0.0.1:4010/v1";

describe("key and address of a provider", () => {
  const key = (value: string) => `OPENAI_API_KEY=${value}\n`;
  const url = (value: string) => `OPENAI_BASE_URL=${value}\n`;

  test.each<[string, Places, boolean, { baseUrl: string; key: string | null; withheld?: boolean }]>([
    ["nothing", {}, true, { baseUrl: VENDOR, key: null }],
    [
      "environment > home > project",
      { env: { OPENAI_API_KEY: "e" }, home: key("h"), project: key("p") },
      true,
      { baseUrl: VENDOR, key: "e" },
    ],
    [
      "an empty variable counts as unset",
      { env: { OPENAI_API_KEY: "" }, home: key("h") },
      true,
      { baseUrl: VENDOR, key: "h" },
    ],
    ["an empty line of .env too", { home: key(""), project: key("p") }, true, { baseUrl: VENDOR, key: "p" }],
    [
      "the person's own places are trusted alike",
      { env: { OPENAI_API_KEY: "e" }, home: url(GATEWAY) },
      true,
      { baseUrl: GATEWAY, key: "e" },
    ],
    [
      "and the other way round",
      { env: { OPENAI_BASE_URL: GATEWAY }, home: key("h") },
      true,
      { baseUrl: GATEWAY, key: "h" },
    ],
    [
      "a project's address never gets the environment's key",
      { env: { OPENAI_API_KEY: "e" }, project: url(GATEWAY) },
      true,
      { baseUrl: GATEWAY, key: null, withheld: true },
    ],
    [
      "nor the home's",
      { home: key("h"), project: url(GATEWAY) },
      true,
      { baseUrl: GATEWAY, key: null, withheld: true },
    ],
    [
      "not even on loopback",
      { env: { OPENAI_API_KEY: "e" }, project: url(LOCAL) },
      true,
      { baseUrl: LOCAL, key: null, withheld: true },
    ],
    [
      "but its own file's key, though the environment has another",
      { env: { OPENAI_API_KEY: "e" }, project: url(GATEWAY) + key("p") },
      true,
      { baseUrl: GATEWAY, key: "p" },
    ],
    [
      "a project's key may go to the person's address when trusted",
      { env: { OPENAI_BASE_URL: GATEWAY }, project: key("p") },
      true,
      { baseUrl: GATEWAY, key: "p" },
    ],
    [
      "the vendor's own address is anybody's",
      { env: { OPENAI_API_KEY: "e" }, project: url("https://api.openai.com/v1/") },
      true,
      { baseUrl: "https://api.openai.com/v1/", key: "e" },
    ],
    [
      "but not without TLS",
      { env: { OPENAI_API_KEY: "e" }, project: url("http://api.openai.com/v1") },
      true,
      { baseUrl: "http://api.openai.com/v1", key: null, withheld: true },
    ],
    ["untrusted: a key for the vendor's address", { project: key("p") }, false, { baseUrl: VENDOR, key: "p" }],
    [
      "untrusted: no other address",
      { env: { OPENAI_API_KEY: "e" }, project: url(GATEWAY) },
      false,
      { baseUrl: VENDOR, key: "e" },
    ],
    [
      "untrusted: no key to the person's gateway",
      { env: { OPENAI_BASE_URL: GATEWAY }, project: key("p") },
      false,
      { baseUrl: GATEWAY, key: null, withheld: true },
    ],
    [
      "untrusted: loopback with the same file's key",
      { project: url(LOCAL) + key("p") },
      false,
      { baseUrl: LOCAL, key: "p" },
    ],
    [
      "untrusted: loopback never with the environment's",
      { env: { OPENAI_API_KEY: "e" }, project: url(LOCAL) },
      false,
      { baseUrl: LOCAL, key: null, withheld: true },
    ],
    [
      "untrusted: a host that only looks like loopback",
      { env: { OPENAI_API_KEY: "e" }, project: url("http://localhost@evil.example/") },
      false,
      { baseUrl: VENDOR, key: "e" },
    ],
    [
      "untrusted: an address that is none",
      { env: { OPENAI_API_KEY: "e" }, project: url("nonsense") },
      false,
      { baseUrl: VENDOR, key: "e" },
    ],
  ])("%s", async (_, places, trusted, expected) => {
    const credential = (await resolve(tempDir(), places, trusted)).credentials.get("openai");
    expect({
      baseUrl: credential?.baseUrl,
      key: credential?.key?.value ?? null,
      withheld: credential?.withheldKey !== null,
    }).toEqual({
      withheld: false,
      ...expected,
    });
  });

  test("each comes with its origin", async () => {
    const dir = tempDir();
    const secrets = await resolve(
      dir,
      { env: { OPENAI_API_KEY: "e" }, home: `#\nOPENAI_MODEL=m\n${url(GATEWAY)}` },
      false,
    );
    expect(secrets.credentials.get("openai")).toEqual({
      baseUrl: GATEWAY,
      baseUrlOrigin: `${join(dir, "home", ".env")}:3`,
      isOwnAddress: false,
      key: { value: "e", origin: "env OPENAI_API_KEY" },
      withheldKey: null,
      model: { value: "m", origin: `${join(dir, "home", ".env")}:2` },
    });
  });

  test("a configured server has its own variable and address", async () => {
    const secrets = await resolve(tempDir(), { env: { MY_KEY: "k", OPENAI_BASE_URL: GATEWAY } }, false);
    expect(secrets.credentials.get("mine")).toMatchObject({
      baseUrl: "https://llm.example/v1",
      isOwnAddress: true,
      key: { value: "k" },
    });
  });

  test("an address that is no http(s) address names its variable and place", async () => {
    const promise = resolve(tempDir(), { env: { OPENAI_BASE_URL: "file:///etc/passwd" } }, true);
    await expect(promise).rejects.toThrow(
      new ConfigError("env OPENAI_BASE_URL: OPENAI_BASE_URL: expected an http:// or https:// address"),
    );
  });
});

describe("what waits for trust", () => {
  const project = `OPENAI_API_KEY=k\nOPENAI_BASE_URL=${GATEWAY}\nOPENAI_MODEL=m\nHARNESS9_MODEL=x\nHARNESS9_MAX_TURNS=1\nPATH=/evil\nNODE_OPTIONS=--x\n`;

  test("is named with file, line and --trust, and nothing else is", async () => {
    const dir = tempDir();
    const secrets = await resolve(dir, { project }, false);
    const file = join(dir, ".env");
    expect(secrets.waiting.map(({ name, origin }) => [name, origin])).toEqual([
      ["HARNESS9_MODEL", `${file}:4`],
      ["OPENAI_BASE_URL", `${file}:2`],
      ["OPENAI_MODEL", `${file}:3`],
    ]);
    expect(secrets.warnings[1]).toBe(
      `${file}:2: ignored OPENAI_BASE_URL: this folder is not trusted (--trust trusts it)`,
    );
    expect(secrets.credentials.get("openai")?.model).toBeNull();
  });

  test("counts once the folder is trusted", async () => {
    const secrets = await resolve(tempDir(), { project }, true);
    expect([secrets.waiting, secrets.warnings]).toEqual([[], []]);
    expect(secrets.credentials.get("openai")).toMatchObject({
      baseUrl: GATEWAY,
      key: { value: "k" },
      model: { value: "m" },
    });
  });

  test("leaves out an address on loopback and the vendor's own", async () => {
    for (const address of [LOCAL, VENDOR]) {
      expect((await resolve(tempDir(), { project: `OPENAI_BASE_URL=${address}\n` }, false)).waiting).toEqual([]);
    }
  });
});

describe("secrets for masking and child processes", () => {
  test("every value of every place is known, used or not", async () => {
    const variables = await read(tempDir(), {
      env: { OPENAI_API_KEY: "sk-env", OPENAI_AUTH_TOKEN: "token" },
      home: "OPENAI_API_KEY=sk-env\nMY_KEY=mine\n",
      project: "OPENAI_API_KEY=sk-project\nOTHER_API_KEY=no\n",
    });
    expect(secretValues(variables, [OPENAI, CUSTOM])).toEqual(
      new Map([
        ["OPENAI_API_KEY", "sk-env"],
        ["OPENAI_API_KEY#2", "sk-project"],
        ["OPENAI_AUTH_TOKEN", "token"],
        ["MY_KEY", "mine"],
      ]),
    );
  });

  test("children lose the keys and tokens of known and configured providers", () => {
    const none: KnownProvider = { ...CUSTOM, keyVariable: null };
    expect(secretVariableNames([OPENAI, CUSTOM, { ...none, name: "my-box" }])).toEqual([
      "OPENAI_API_KEY",
      "OPENAI_AUTH_TOKEN",
      "MY_KEY",
      "MINE_API_KEY",
      "MINE_AUTH_TOKEN",
      "MY_BOX_API_KEY",
      "MY_BOX_AUTH_TOKEN",
    ]);
  });

  test("a .env that cannot be read is a warning", async () => {
    const dir = tempDir();
    mkdirSync(join(dir, "home"));
    writeFileSync(join(dir, ".env"), "OPENAI_API_KEY=k\n");
    const homeDotenv = `${join(dir, "home")}/${"x".repeat(300)}`;
    const variables = await readVariables({
      env: {},
      homeDotenv,
      projectDotenv: join(dir, ".env"),
      strings: en.config,
    });
    expect(variables.warnings).toEqual([expect.stringContaining("cannot be read")]);
    expect(variables.find("OPENAI_API_KEY")[0]?.value).toBe("k");
  });
});

describe("storeKey", () => {
  test("adds a key to a file of its own that only the person can read", async () => {
    const file = join(tempDir(), ".harness9", ".env");
    await storeKey(file, "OPENAI_API_KEY", "  sk-new\n", en.config);
    expect(readFileSync(file, "utf8")).toBe("OPENAI_API_KEY=sk-new\n");
    expect([statSync(file).mode & 0o777, statSync(join(file, "..")).mode & 0o777]).toEqual([0o600, 0o700]);
  });

  test("replaces the variable in its place, drops its doubles and keeps every other line", async () => {
    const file = join(tempDir(), ".env");
    writeFileSync(file, "# mine\nA=1\n OPENAI_API_KEY = 'old'\nOPENAI_API_KEY=older\n\nB=2");
    chmodSync(file, 0o644);
    await storeKey(file, "OPENAI_API_KEY", "sk-$&-new", en.config);
    expect(readFileSync(file, "utf8")).toBe("# mine\nA=1\nOPENAI_API_KEY=sk-$&-new\n\nB=2\n");
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  test.each(["plain", "a=b", '"quoted"', "'single'", '"', "# not a comment"])(
    "%j comes back as it was",
    async (key) => {
      const file = join(tempDir(), ".env");
      await storeKey(file, "K", key, en.config);
      expect((await readDotenv(file)).get("K")?.value).toBe(key);
    },
  );

  test.each(["", "  ", "a\nEVIL=1", "a\rb"])("refuses %j", async (key) => {
    await expect(storeKey(join(tempDir(), ".env"), "K", key, en.config)).rejects.toMatchObject({ exitCode: 42 });
  });
});
