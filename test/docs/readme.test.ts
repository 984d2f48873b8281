import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parse } from "jsonc-parser";
import { expect, test } from "vitest";
import { createProgram } from "../../src/cli/program.ts";
import { DEFAULT_SETTINGS, isSettingKey, SETTING_SCHEMAS } from "../../src/config/settings.ts";
import { listServers } from "../../src/providers/servers.ts";
import type { ChatSettings } from "../../src/session/chat.ts";
import { EXIT } from "../../src/text/exit.ts";
import { loadStrings } from "../../src/text/strings.ts";
import { SLASH_COMMANDS } from "../../src/ui/commands/slash-commands.ts";
import { KEY_HELP } from "../../src/ui/input/keymap.ts";
import { codeBlocks, headingLevels, tableHead, tableUnder } from "./markdown.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const read = (path: string): string => readFileSync(join(root, path), "utf8");
const pages = ["README.md", "README.zh-CN.md", "CONTRIBUTING.md", "docs/architecture.md", "docs/extending.md"];
const readmes = [
  [
    "README.md",
    {
      providers: "Providers",
      exitCodes: "Exit codes",
      limits: "Limits",
      keys: "Keys",
      commands: "Slash commands",
      looks: "Looks",
      modes: "What it may do",
    },
  ],
  [
    "README.zh-CN.md",
    {
      providers: "服务商",
      exitCodes: "退出码",
      limits: "限制",
      keys: "按键",
      commands: "斜杠命令",
      looks: "外观",
      modes: "它能做什么",
    },
  ],
] as const;
const manifest = JSON.parse(read("package.json")) as {
  readonly scripts: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
};

test("both READMEs have the same sections, code and tables", () => {
  const [english, chinese] = [read("README.md"), read("README.zh-CN.md")];
  const rows = (page: string): number => page.split("\n").filter((line) => line.startsWith("|")).length;

  expect(headingLevels(chinese)).toEqual(headingLevels(english));
  expect(codeBlocks(chinese)).toEqual(codeBlocks(english));
  expect(rows(chinese)).toBe(rows(english));
});

test.each(readmes)("%s lists the providers as they are", (path, { providers }) => {
  expect(tableUnder(read(path), providers)).toEqual(
    listServers().map(({ name, keyVariable, isLocal, baseUrl, defaultModel }) => [
      name,
      isLocal ? "—" : keyVariable,
      baseUrl,
      defaultModel ?? "—",
    ]),
  );
});

test.each(readmes)("%s lists every exit code", (path, { exitCodes }) => {
  const codes = tableUnder(read(path), exitCodes).flatMap(([code = ""]) => code.split(",").map(Number));

  expect(codes).toEqual([...new Set([...Object.values(EXIT), 129, 143])].sort((a, b) => a - b));
});

test.each(readmes)("%s gives the limits that are the defaults", (path, { limits }) => {
  const rows = tableUnder(read(path), limits).map(([, key = "", value = ""]) => [key, value]);
  const defaults = Object.fromEntries(Object.entries(DEFAULT_SETTINGS));

  expect(rows).toEqual(rows.map(([key = ""]) => [key, shown(defaults[key], path)]));
});

test.each(readmes)(
  "%s lists the keys and the commands of the chat, in the order of its help",
  (path, { keys, commands }) => {
    const firstCells = (heading: string): readonly string[] =>
      tableUnder(read(path), heading).map(([cell = ""]) => cell);

    expect(firstCells(keys)).toEqual(KEY_HELP.map((row) => row.keys.join(", ")));
    expect(firstCells(commands)).toEqual(
      SLASH_COMMANDS.map(({ name, aliases }) => [name, ...aliases].map((one) => `/${one}`).join(", ")),
    );
  },
);

test.each(readmes)("%s gives the settings of the chat's looks, each with its default", (path, { looks }) => {
  const { theme, glyphs, screenReader, showThinking } = DEFAULT_SETTINGS;
  const settings: ChatSettings = { theme, glyphs, screenReader, showThinking };

  expect(tableUnder(read(path), looks).map(([key, value]) => [key, value])).toEqual(
    Object.entries(settings).map(([key, value]) => [key, String(value)]),
  );
});

test.each(readmes)("%s says what each permission mode does", (path, { modes }) => {
  expect(tableHead(read(path), modes).slice(1)).toEqual(SETTING_SCHEMAS.permissionMode().unwrap().options);
});

const shown = (value: unknown, path: string): string => {
  if (value === null) return path === "README.md" ? "none" : "无";
  return value === 60_000 || value === 30_000 ? `${value / 1000} s` : String(value);
};

test("the READMEs name every package that is bundled and that we depend on ourselves", () => {
  const bundled = Object.keys(manifest.devDependencies).filter((name) => read("NOTICE").includes(`\n${name} `));

  for (const [path] of readmes) {
    const [paragraph = ""] = /^(?:Built on: |构建于：)(?:.+\n)+/m.exec(read(path)) ?? [];
    expect([...paragraph.matchAll(/`([^`]+)`/g)].map(([, name]) => name).sort()).toEqual(bundled.sort());
  }
});

test.each(pages)("%s names only scripts, files and links that exist", (path) => {
  const page = read(path);
  const scripts = [...page.matchAll(/npm run ([\w:]+)/g)].map(([, name = ""]) => name);
  const links = [...page.matchAll(/\]\(([^)#:]+)\)/g)].map(([, link = ""]) => join(dirname(path), link));
  const prose = page.replace(/^```[\s\S]*?^```$/gm, "");
  const files = [...prose.matchAll(/`((?:src|test|docs|bin)\/[\w./-]+)`/g)].map(([, file = ""]) => file);

  expect(scripts.filter((name) => !(name in manifest.scripts))).toEqual([]);
  expect([...links, ...files].filter((file) => !existsSync(join(root, file)))).toEqual([]);
});

test.each(readmes)("%s names only options that the program has", async (path) => {
  const { cli } = await loadStrings("en");
  const program = createProgram("0.0.0", cli, {
    perform: async () => undefined,
    openChat: async () => undefined,
  });
  const known = [program, ...program.commands].flatMap(({ options }) => options.map(({ long }) => long));
  const named = [...read(path).matchAll(/(?<![\w-])--[a-z][a-z-]+/g)].map(([option]) => option);

  // Commander's, npm's and git's own.
  expect(named.filter((option) => ![...known, "--help", "--global", "--force", "--hard"].includes(option))).toEqual([]);
});

test.each(pages)("%s shows only settings that are valid", (path) => {
  const shown = codeBlocks(read(path)).filter(({ language }) => language.startsWith("json"));
  const settings = shown.flatMap(({ text }) => Object.entries(Object(parse(text))));

  const invalid = settings.filter(
    ([key, value]) => !isSettingKey(key) || !SETTING_SCHEMAS[key]().safeParse(value).success,
  );
  expect(invalid).toEqual([]);
});

test("the architecture's tree and import table have every folder of src/", () => {
  const page = read("docs/architecture.md");
  const tree = codeBlocks(page).find(({ text }) => text.includes("src/"))?.text ?? "";
  const folders = readdirSync(join(root, "src")).sort();

  expect([...tree.matchAll(/^ {2}(\w+)\//gm)].map(([, name]) => name).sort()).toEqual(folders);
  expect(
    tableUnder(page, "Who may import whom")
      .map(([name]) => name)
      .sort(),
  ).toEqual(folders);
});

test("the architecture's table of events has every event", () => {
  const types = [...read("src/schema/event.ts").matchAll(/^ {2}"?([a-z]+(?:\.[a-z]+)?)"?: \{/gm)].map(
    ([, type]) => type,
  );
  const rows = tableUnder(read("docs/architecture.md"), "Events").flatMap(([names = ""]) => names.split(", "));

  expect(rows.sort()).toEqual(types.sort());
});

test("the example of .env names known variables only, and sets none", () => {
  const lines = read(".env.example").split("\n");
  const named = lines.flatMap((line) => /^#? ?([A-Z0-9_]+)=/.exec(line)?.[1] ?? []);
  const known = listServers().flatMap(({ keyVariable, baseUrlVariable, modelVariable }) => [
    keyVariable,
    baseUrlVariable,
    modelVariable,
  ]);

  expect(lines.filter((line) => line !== "" && !line.startsWith("#"))).toEqual([]);
  expect(named.filter((name) => !known.includes(name) && !name.startsWith("HARNESS9_"))).toEqual([]);
  expect(
    listServers()
      .filter(({ isLocal }) => !isLocal)
      .map(({ keyVariable }) => keyVariable)
      .filter((name) => !named.includes(name ?? "")),
  ).toEqual([]);
});
