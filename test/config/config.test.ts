import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Config, readConfig, type SavedRules } from "../../src/config/config.ts";
import { ConfigError } from "../../src/config/config-error.ts";
import { setConfigValue } from "../../src/config/set-config-value.ts";
import { DEFAULT_SETTINGS, environmentName, SETTING_KEYS } from "../../src/config/settings.ts";
import { readVariables } from "../../src/config/variables.ts";
import { en } from "../../src/text/en.ts";
import { tempDir } from "../helpers/temp-dir.ts";

type Setup = {
  readonly flags?: Record<string, unknown>;
  readonly env?: Record<string, string>;
  readonly local?: string;
  readonly project?: string;
  readonly user?: string;
  readonly homeDotenv?: string;
  readonly projectDotenv?: string;
  readonly trusted?: boolean;
  readonly savedRules?: SavedRules;
};

const files = (dir: string) => ({
  user: join(dir, "home", "config.json"),
  project: join(dir, "work", ".harness9", "settings.json"),
  projectLocal: join(dir, "work", ".harness9", "settings.local.json"),
  homeDotenv: join(dir, "home", ".env"),
  projectDotenv: join(dir, "work", ".env"),
});

const put = (path: string, text: string | undefined): void => {
  if (text === undefined) return;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
};

const load = async (dir: string, setup: Setup): Promise<Config> => {
  const at = files(dir);
  put(at.user, setup.user);
  put(at.project, setup.project);
  put(at.projectLocal, setup.local);
  put(at.homeDotenv, setup.homeDotenv);
  put(at.projectDotenv, setup.projectDotenv);
  const variables = await readVariables({ env: setup.env ?? {}, ...at, strings: en.config });
  const configFor = await readConfig({
    flags: setup.flags ?? {},
    variables,
    files: at,
    ...(setup.savedRules && { savedRules: setup.savedRules }),
    strings: en.config,
  });
  return configFor(setup.trusted ?? false);
};

const entry = (config: Config, key: string) => config.entries.find((candidate) => candidate.key === key);

const failure = async (promise: Promise<unknown>): Promise<ConfigError> => {
  const error = await promise.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (error instanceof ConfigError) return error;
  throw new Error("expected a ConfigError", { cause: error });
};

describe("the layers", () => {
  test("with nothing set everything is a default", async () => {
    const config = await load(tempDir(), {});
    expect(config.settings).toEqual(DEFAULT_SETTINGS);
    expect(config.entries).toEqual(
      SETTING_KEYS.map((key) => ({ key, value: DEFAULT_SETTINGS[key], origin: "default" })),
    );
    expect([config.warnings, config.proposals, config.named]).toEqual([[], [], []]);
  });

  test("flags > environment > local project file > project file > user file", async () => {
    const dir = tempDir();
    const at = files(dir);
    const all: Setup = {
      flags: { maxTurns: "1" },
      env: { HARNESS9_MAX_TURNS: "2" },
      homeDotenv: "\nHARNESS9_MAX_TURNS=3\n",
      local: '{"maxTurns": 4}',
      project: '{\n  // shared\n  "maxTurns": 5,\n}',
      user: '{"log": {"indent": 2},\n"maxTurns": 6}',
    };
    const origins = [
      "flag",
      "env HARNESS9_MAX_TURNS",
      `${at.homeDotenv}:2`,
      `${at.projectLocal}:1`,
      `${at.project}:3`,
      `${at.user}:2`,
    ];
    const layers = ["flags", "env", "homeDotenv", "local", "project", "user"] as const;
    for (const [index, origin] of origins.entries()) {
      const left = Object.fromEntries(layers.slice(index).map((layer) => [layer, all[layer]])) as Setup;
      const fresh = tempDir();
      const config = await load(fresh, left);
      expect(entry(config, "maxTurns")).toEqual({
        key: "maxTurns",
        value: index + 1,
        origin: origin.replace(dir, fresh),
      });
      expect(config.settings["log.indent"]).toBe(2);
    }
  });

  test("an empty variable counts as unset", async () => {
    const config = await load(tempDir(), { env: { HARNESS9_MAX_TURNS: "" }, user: '{"maxTurns": 9}' });
    expect(config.settings.maxTurns).toBe(9);
  });

  test("lists are the union of all layers and keep the origin of each rule", async () => {
    const dir = tempDir();
    const at = files(dir);
    const config = await load(dir, {
      flags: { deny: ["bash(rm:*)"] },
      project: '{"deny": ["bash(curl:*)"], "ask": ["mcp__x__*"]}',
      user: '{"deny": ["bash(rm:*)"], "allow": ["bash(npm test)"]}',
    });
    expect(config.settings.deny).toEqual(["bash(rm:*)", "bash(curl:*)"]);
    expect(config.rules).toEqual({
      allow: [{ rule: "bash(npm test)", origin: `${at.user}:1` }],
      ask: [{ rule: "mcp__x__*", origin: `${at.project}:1` }],
      deny: [
        { rule: "bash(rm:*)", origin: "flag" },
        { rule: "bash(curl:*)", origin: `${at.project}:1` },
        { rule: "bash(rm:*)", origin: `${at.user}:1` },
      ],
    });
  });

  test("tables merge by name", async () => {
    const config = await load(tempDir(), {
      user: '{"models": {"a/x": {"contextWindow": 1}, "a/y": {"contextWindow": 2}}}',
      project: '{"models": {"a/x": {"contextWindow": 3}}}',
    });
    expect(config.settings.models).toEqual({ "a/x": { contextWindow: 3 }, "a/y": { contextWindow: 2 } });
  });

  test("the layers that name a provider or a model are told apart", async () => {
    const dir = tempDir();
    const config = await load(dir, {
      flags: { provider: "openai" },
      env: { HARNESS9_MODEL: "anthropic/claude-opus-4-8" },
      user: '{"provider": "qwen", "model": "qwen3.8-max"}',
    });
    expect(config.named).toEqual([
      { provider: "openai", origin: "flag" },
      { model: "anthropic/claude-opus-4-8", origin: "env HARNESS9_MODEL" },
      { provider: "qwen", model: "qwen3.8-max", origin: `${files(dir).user}:1` },
    ]);
  });
});

describe("values", () => {
  test("the names of variables follow from the keys", () => {
    expect(
      ["maxTurns", "toolTimeoutMs", "log.maxOutputBytes", "maxCostUsd", "addDirs"].map((key) =>
        environmentName(key as "maxTurns"),
      ),
    ).toEqual([
      "HARNESS9_MAX_TURNS",
      "HARNESS9_TOOL_TIMEOUT_MS",
      "HARNESS9_LOG_MAX_OUTPUT_BYTES",
      "HARNESS9_MAX_COST_USD",
      "HARNESS9_ADD_DIRS",
    ]);
    expect([environmentName("providers"), environmentName("models")]).toEqual([null, null]);
  });

  test.each([
    ["toolTimeoutMs", 1500, 1500],
    ["toolTimeoutMs", "90s", 90_000],
    ["toolTimeoutMs", "10m", 600_000],
    ["maxTimeMs", "1h", 3_600_000],
    ["maxTimeMs", "1.5h", 5_400_000],
    ["maxTimeMs", "250ms", 250],
    ["maxTimeMs", null, null],
    ["maxReadBytes", "auto", "auto"],
    ["maxReadBytes", 4096, 4096],
    ["maxCostUsd", 0.5, 0.5],
    ["stream", false, false],
    ["sandbox", "require", "require"],
    ["effort", "high", "high"],
  ])("%s: %j in a file is %j", async (key, value, expected) => {
    expect(entry(await load(tempDir(), { user: JSON.stringify({ [key]: value }) }), key)?.value).toEqual(expected);
  });

  test.each([
    ["HARNESS9_TOOL_TIMEOUT_MS", "5000", "toolTimeoutMs", 5000],
    ["HARNESS9_TOOL_TIMEOUT_MS", "90s", "toolTimeoutMs", 90_000],
    ["HARNESS9_STREAM", "false", "stream", false],
    ["HARNESS9_MODEL", "123", "model", "123"],
    ["HARNESS9_MODEL", "true", "model", "true"],
    ["HARNESS9_MAX_COST_USD", "0.25", "maxCostUsd", 0.25],
    ["HARNESS9_LOG_INDENT", "0", "log.indent", 0],
    ["HARNESS9_DENY", '["bash(a, b)", "write_file"]', "deny", ["bash(a, b)", "write_file"]],
    ["HARNESS9_DENY", "bash(a, b)\nwrite_file\n", "deny", ["bash(a, b)", "write_file"]],
  ])("%s=%s sets %s to %j", async (name, text, key, expected) => {
    expect(entry(await load(tempDir(), { env: { [name]: text } }), key)?.value).toEqual(expected);
  });

  test.each([
    ["maxTurns", 0],
    ["maxTurns", 1.5],
    ["maxTurns", "50"],
    ["toolTimeoutMs", "5 days"],
    ["toolTimeoutMs", 0],
    ["toolTimeoutMs", 1e12],
    ["bashTimeoutMs", "11m"],
    ["maxCostUsd", -1],
    ["language", "fr"],
    ["allow", "bash"],
    ["allow", [""]],
    ["stream", "yes"],
    ["log", 5],
  ])("%s: %j in a file is refused with file, line and key", async (key, value) => {
    const dir = tempDir();
    const error = await failure(
      load(dir, { user: `{\n  "effort": "low",\n  ${JSON.stringify(key)}: ${JSON.stringify(value)}\n}` }),
    );
    expect(error.exitCode).toBe(52);
    expect(error.message.startsWith(`${files(dir).user}:3: ${key}`)).toBe(true);
  });

  test("every mistake is told at once; flags alone are a usage error", async () => {
    const both = await failure(load(tempDir(), { env: { HARNESS9_MAX_TURNS: "many" }, flags: { attempts: 0 } }));
    expect(both.message.split("\n").map((line) => line.split(": ").slice(0, 2))).toEqual([
      ["--attempts", "Too small"],
      ["HARNESS9_MAX_TURNS", "maxTurns"],
    ]);
    expect(both.exitCode).toBe(52);
    expect((await failure(load(tempDir(), { flags: { maxTurns: "0" } }))).exitCode).toBe(2);
  });

  test("a mistake deep inside names the whole key", async () => {
    const dir = tempDir();
    const user = '{"models": {"a/b": {"prices": {"input": "free", "output": 1}}}}';
    expect((await failure(load(dir, { user }))).message).toMatch(/config\.json:1: models\.a\/b\.prices\.input: /);
    const providers = '{"providers": {"mine": {"dialect": "openai", "baseUrl": "file:///etc"}}}';
    expect((await failure(load(tempDir(), { user: providers }))).message).toMatch(
      /providers\.mine\.baseUrl: expected an http/,
    );
  });
});

describe("a settings file", () => {
  test.each([
    ['{\n  "maxTurns": 5,,\n}', 2],
    ['{\n\n  "maxTurns": \n', 4],
    ['{"a": "unclosed\n}', 1],
  ])("that is no JSON names file and line: %j", async (user, line) => {
    const dir = tempDir();
    expect((await failure(load(dir, { user }))).message.startsWith(`${files(dir).user}:${line}: `)).toBe(true);
  });

  test.each(["[]", "1", "null", '"x"'])("that holds %s is refused", async (user) => {
    const dir = tempDir();
    expect((await failure(load(dir, { user }))).message).toBe(`${files(dir).user}:1: expected a JSON object`);
  });

  test("may be empty, have comments, trailing commas, a BOM and CRLF", async () => {
    expect((await load(tempDir(), { user: "" })).settings).toEqual(DEFAULT_SETTINGS);
    const user = '\uFEFF{\r\n// mine\r\n"maxTurns": 7, /* more */\r\n}\r\n';
    expect((await load(tempDir(), { user })).settings.maxTurns).toBe(7);
  });

  test("an unknown key warns with the nearest known one", async () => {
    const dir = tempDir();
    const { user, projectLocal } = files(dir);
    const config = await load(dir, {
      user: '{"maxTurn": 5, "frobnicate": 1,\n"log": {"ident": 4}, "models": {"a/b": {"window": 1, "maxOutputTokens": 2}}}',
      local: '{"sandbx": "off"}',
    });
    expect(config.warnings).toEqual([
      `${projectLocal}:1: unknown setting 'sandbx'; did you mean 'sandbox'?`,
      `${user}:1: unknown setting 'maxTurn'; did you mean 'maxTurns'?`,
      `${user}:1: unknown setting 'frobnicate'`,
      `${user}:2: unknown setting 'log.ident'; did you mean 'log.indent'?`,
      `${user}:2: unknown setting 'models.a/b.window'`,
    ]);
    expect(config.settings.models).toEqual({ "a/b": { maxOutputTokens: 2 } });
  });

  test("a __proto__ key is an unknown key and sets nothing", async () => {
    const config = await load(tempDir(), { project: '{"__proto__": {"permissionMode": "yolo", "maxTurns": 1}}' });
    expect(config.settings).toEqual(DEFAULT_SETTINGS);
    expect(config.warnings.length).toBe(1);
  });

  test("that cannot be read says so", async () => {
    const dir = tempDir();
    mkdirSync(files(dir).user, { recursive: true });
    expect((await failure(load(dir, {}))).message).toBe(`${files(dir).user}: not an ordinary file, or too large`);
  });
});

describe("a project's files", () => {
  test.each([
    '"providers": {"x": {"dialect": "openai", "baseUrl": "http://evil.example"}}',
    '"apiKey": "sk-x"',
    '"openaiApiKey": "sk-x"',
    '"baseUrl": "http://evil.example"',
    '"OPENAI_BASE_URL": "http://evil.example"',
    '"apiKeyHelper": "curl evil.example"',
    '"env": {"OPENAI_BASE_URL": "http://evil.example"}',
    '"proxy": "http://evil.example"',
    '"headers": {}',
    '"telemetry": {"endpoint": "http://evil.example"}',
    '"otelEndpoint": "http://evil.example"',
  ])("never set keys, addresses or telemetry, trusted or not: %s", async (property) => {
    for (const trusted of [false, true]) {
      const dir = tempDir();
      const config = await load(dir, { project: `{\n${property}}`, trusted });
      const key = /"(\w+)"/.exec(property)?.[1];
      expect(config.warnings).toEqual([
        `${files(dir).project}:2: ignored '${key}': a project's files may not set keys, addresses or telemetry`,
      ]);
      expect(config.settings).toEqual(DEFAULT_SETTINGS);
    }
  });

  test("may tighten permissions without trust", async () => {
    const project = '{"deny": ["bash"], "ask": ["write_file"], "permissionMode": "plan", "sandbox": "require"}';
    const { settings, warnings } = await load(tempDir(), { project });
    expect([settings.deny, settings.ask, settings.permissionMode, settings.sandbox, warnings]).toEqual([
      ["bash"],
      ["write_file"],
      "plan",
      "require",
      [],
    ]);
  });

  test.each([
    ["permissionMode", "yolo", "{}"],
    ["permissionMode", "auto", "{}"],
    ["permissionMode", "auto-edit", "{}"],
    ["permissionMode", "ask", '{"permissionMode": "plan"}'],
    ["permissionMode", "yolo", '{"permissionMode": "auto"}'],
    ["sandbox", "off", "{}"],
    ["sandbox", "auto", '{"sandbox": "require"}'],
    ["sandbox.network", "on", '{"sandbox.network": "off"}'],
  ])("never loosen %s to %s, trusted or not, over %s", async (key, value, user) => {
    for (const layer of ["project", "local"]) {
      const dir = tempDir();
      const config = await load(dir, { [layer]: JSON.stringify({ [key]: value }), user, trusted: true });
      expect(entry(config, key)?.value).toEqual({ ...DEFAULT_SETTINGS, ...JSON.parse(user) }[key]);
      expect(config.warnings).toEqual([
        expect.stringContaining(`ignored '${key}': a project's files can only tighten`),
      ]);
      expect(config.proposals).toEqual([]);
    }
  });

  test("may use what the person's own mode allows", async () => {
    const config = await load(tempDir(), {
      project: '{"permissionMode": "auto-edit"}',
      user: '{"permissionMode": "auto"}',
    });
    expect(config.settings.permissionMode).toBe("auto-edit");
  });

  test("propose allow rules and folders, which count once the folder is trusted", async () => {
    const project = '{"allow": ["bash(npm test:*)"], "addDirs": ["../lib"], "maxTurns": 3}';
    const dir = tempDir();
    const untrusted = await load(dir, { project, user: '{"allow": ["bash(ls)"]}' });
    const origin = `${files(dir).project}:1`;
    expect(untrusted.settings.allow).toEqual(["bash(ls)"]);
    expect(untrusted.settings.maxTurns).toBe(3);
    expect(untrusted.proposals).toEqual([
      { key: "allow", value: ["bash(npm test:*)"], origin },
      { key: "addDirs", value: ["../lib"], origin },
    ]);
    expect(untrusted.warnings).toEqual([
      `${origin}: ignored 'allow': this folder is not trusted (--trust trusts it)`,
      `${origin}: ignored 'addDirs': this folder is not trusted (--trust trusts it)`,
    ]);
    const trusted = await load(tempDir(), { project, user: '{"allow": ["bash(ls)"]}', trusted: true });
    expect([trusted.settings.allow, trusted.settings.addDirs, trusted.proposals, trusted.warnings]).toEqual([
      ["bash(npm test:*)", "bash(ls)"],
      ["../lib"],
      [],
      [],
    ]);
  });

  test("its .env names provider, model and language only in a trusted folder, and nothing else ever", async () => {
    const projectDotenv =
      "HARNESS9_MODEL=m\nHARNESS9_LANGUAGE=zh\nHARNESS9_PERMISSION_MODE=yolo\nHARNESS9_MAX_TURNS=1\n";
    expect((await load(tempDir(), { projectDotenv })).settings).toEqual(DEFAULT_SETTINGS);
    expect((await load(tempDir(), { projectDotenv, trusted: true })).settings).toEqual({
      ...DEFAULT_SETTINGS,
      model: "m",
      language: "zh",
    });
  });
});

describe("setConfigValue", () => {
  test("keeps comments and everything else, and leaves the file 0600", async () => {
    const file = join(tempDir(), "config.json");
    writeFileSync(file, '{\n  // how long a run may be\n  "maxTurns": 5, // turns\n  "unknown": 1\n}\n');
    chmodSync(file, 0o644);
    await setConfigValue(file, "maxTurns", "9", en.config);
    await setConfigValue(file, "log.indent", 4, en.config);
    await setConfigValue(file, "toolTimeoutMs", "90s", en.config);
    expect(readFileSync(file, "utf8")).toBe(
      '{\n  // how long a run may be\n  "maxTurns": 9, // turns\n  "unknown": 1,\n  "log": {\n    "indent": 4\n  },\n  "toolTimeoutMs": "90s"\n}\n',
    );
    expect((statSync(file).mode & 0o777).toString(8)).toBe("600");
  });

  test("makes the file, and takes a setting out", async () => {
    const file = join(tempDir(), "deep", "config.json");
    await setConfigValue(file, "model", "openai/gpt-5.4", en.config);
    expect(readFileSync(file, "utf8")).toBe('{\n  "model": "openai/gpt-5.4"\n}\n');
    await setConfigValue(file, "model", undefined, en.config);
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({});
  });

  test.each([
    ["maxTurn", "5", "unknown setting 'maxTurn'; did you mean 'maxTurns'?"],
    ["maxTurns", "many", "maxTurns: "],
    ["__proto__", "5", "unknown setting"],
    ["permissionMode", "root", "permissionMode: "],
  ])("refuses %s = %s and leaves the file alone", async (key, value, message) => {
    const file = join(tempDir(), "config.json");
    writeFileSync(file, "{}");
    expect((await failure(setConfigValue(file, key, value, en.config))).message).toContain(message);
    expect(readFileSync(file, "utf8")).toBe("{}");
  });

  test("does not touch a file that is broken", async () => {
    const file = join(tempDir(), "config.json");
    writeFileSync(file, "{ broken");
    expect((await failure(setConfigValue(file, "maxTurns", 5, en.config))).message).toContain(
      "config.json:1: JSON syntax error",
    );
    expect(readFileSync(file, "utf8")).toBe("{ broken");
  });
});

test("rules that a person has saved for the folder count without trust, each with its place", async () => {
  const config = await load(tempDir(), {
    project: '{"allow": ["bash(rm:*)"], "deny": ["bash(curl:*)"]}',
    user: '{"allow": ["bash(ls)"]}',
    savedRules: { allow: ["bash(npm test:*)"], deny: ["bash(git push:*)"], origin: "trust.json:2" },
  });
  expect(config.rules.allow.map(({ rule }) => rule)).toEqual(["bash(npm test:*)", "bash(ls)"]);
  expect(config.rules.allow[0]).toEqual({ rule: "bash(npm test:*)", origin: "trust.json:2" });
  expect(config.rules.deny.map(({ rule }) => rule)).toEqual(["bash(git push:*)", "bash(curl:*)"]);
  expect(config.proposals.map(({ key }) => key)).toEqual(["allow"]);
});
