import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Writable } from "node:stream";
import { fileURLToPath, pathToFileURL } from "node:url";
import ts from "typescript";
import { expect, test } from "vitest";
import type { Registry } from "../../src/tools/registry.ts";
import type { Tool, ToolContext, ToolMiddleware } from "../../src/tools/tool.ts";
import { createWorkspace } from "../../src/tools/workspace/workspace.ts";
import { bundleSource } from "../helpers/bundle-source.ts";
import { zh } from "../helpers/engine.ts";
import { tempDir } from "../helpers/temp-dir.ts";
import { codeBlocks } from "./markdown.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** The page's TypeScript blocks by the absolute path that their first line names, and the output that it promises. */
const readPage = () => {
  const blocks = codeBlocks(readFileSync(join(root, "docs", "extending.md"), "utf8"));
  const files = new Map<string, string>();
  for (const { language, text } of blocks) {
    const path = /^\/\/ (src\/\S+\.ts)\n/.exec(text)?.[1];
    if (language === "ts") files.set(join(root, path ?? "a block without a path"), text);
  }
  return { files, output: blocks.find(({ language }) => language === "text")?.text };
};

type Examples = {
  readonly count: (workDir: string, path: string, stdout: Writable) => Promise<boolean>;
  readonly createCountLines: (options: object) => Tool;
  readonly limitCalls: (max: number) => ToolMiddleware;
  readonly Registry: typeof Registry;
};

/** The examples as if they stood in src/, bundled and loaded. */
const loadExamples = async (files: ReadonlyMap<string, string>): Promise<Examples> => {
  const modules = [...files.keys(), join(root, "src/tools/registry.ts")].map((path) => path.slice(root.length));
  const bundle = await bundleSource(modules.map((path) => `export * from "./${path}";`).join("\n"), files);
  return (await import(/* @vite-ignore */ pathToFileURL(bundle).href)) as Examples;
};

/** What the compiler says of the files under the project's own settings. */
const typeErrors = (files: ReadonlyMap<string, string>): string[] => {
  const { config } = ts.readConfigFile(join(root, "tsconfig.json"), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root);
  const host = ts.createCompilerHost(options);
  const { fileExists, readFile, getSourceFile } = host;
  host.directoryExists = (path) =>
    [...files.keys()].some((file) => dirname(file) === path) || ts.sys.directoryExists(path);
  host.fileExists = (path) => files.has(path) || fileExists(path);
  host.readFile = (path) => files.get(path) ?? readFile(path);
  host.getSourceFile = (path, language, ...rest) => {
    const text = files.get(path);
    return text === undefined ? getSourceFile(path, language, ...rest) : ts.createSourceFile(path, text, language);
  };
  const program = ts.createProgram([...files.keys()], options, host);
  return [...files.keys()].flatMap((path) => {
    const file = program.getSourceFile(path);
    const found = [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)];
    return found.map(({ messageText }) => `${path}: ${ts.flattenDiagnosticMessageText(messageText, "\n")}`);
  });
};

const contextFor = (workDir: string, path: string): ToolContext => ({
  call: { id: "call_1", name: "count_lines", arguments: JSON.stringify({ path }) },
  signal: new AbortController().signal,
  emit: () => undefined,
  session: { id: "test", workDir, model: "test" },
});

test("each example names its file and compiles under the project's own settings", { timeout: 120_000 }, () => {
  const { files } = readPage();

  expect([...files.keys()].map((path) => path.slice(root.length))).toEqual([
    "src/tools/builtin/count-lines.ts",
    "src/providers/line-counter.ts",
    "src/tools/limit-calls.ts",
    "src/ticker/run-ticker.ts",
    "src/cli/count.ts",
  ]);
  expect(typeErrors(files)).toEqual([]);
});

test("together the examples print what the page says", async () => {
  const { files, output } = readPage();
  const { count } = await loadExamples(files);
  const workDir = tempDir();
  writeFileSync(join(workDir, "notes.txt"), "one\ntwo\nthree\n");
  let printed = "";
  const stdout = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      printed += chunk.toString();
      done();
    },
  });

  expect(await count(workDir, "notes.txt", stdout)).toBe(true);
  expect(printed).toBe(output);
});

test("the example tool stays inside the work directory, and the example middleware refuses what is too much", async () => {
  const { createCountLines, limitCalls, Registry } = await loadExamples(readPage().files);
  const workDir = tempDir();
  writeFileSync(join(workDir, "notes.txt"), "one\ntwo");
  const workspace = createWorkspace({ workDir, homeDir: tempDir(), harnessHome: tempDir() });
  const registry = new Registry({ strings: zh.registry, middlewares: [limitCalls(2)] });
  registry.register(createCountLines({ workspace, strings: zh }));
  const call = (path: string) => {
    const context = contextFor(workDir, path);
    return registry.execute(context.call, context);
  };

  expect([await call("notes.txt"), await call("../notes.txt"), await call("notes.txt")]).toEqual([
    {
      toolCallId: "call_1",
      name: "count_lines",
      output: "2 lines",
      isError: false,
      data: { type: "json", value: { path: "notes.txt", lines: 2 } },
    },
    { toolCallId: "call_1", name: "count_lines", output: zh.files.outside("../notes.txt"), isError: true },
    {
      toolCallId: "call_1",
      name: "count_lines",
      output: "denied by policy: count_lines may be called at most 2 times",
      isError: true,
    },
  ]);
});
