import { type PacedModel, pacedModel } from "./paced-model.ts";
import { newPlace, openAIEnv, type Place, put } from "./program.ts";
import { startChat, type Terminal, type TerminalOptions } from "./terminal.ts";

export type Chat = { readonly terminal: Terminal; readonly model: PacedModel; readonly place: Place };

export type ChatOptions = Partial<TerminalOptions> & {
  readonly args?: readonly string[];
  /** On top of a context window and prices for the test's model. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** In the work directory, path → content. */
  readonly files?: Readonly<Record<string, string>>;
};

const MODELS = {
  "openai/test-model": { contextWindow: 100_000, prices: { input: 2, output: 10, cacheRead: 1, cacheWrite: 2 } },
};

/** A place with settings and files, and a model; nothing is started. */
export const prepareChat = async ({ place = newPlace(), settings, files = {} }: ChatOptions = {}) => {
  put(place.home, ".harness9/config.json", JSON.stringify({ models: MODELS, ...settings }));
  for (const [path, content] of Object.entries(files)) put(place.workDir, path, content);
  const model = await pacedModel();
  return { place, model, env: openAIEnv(model) };
};

/** The chat in a terminal, connected to a model that the test plays, when it is ready for a message. */
export const openChat = async (options: ChatOptions = {}): Promise<Chat> => {
  const { place, model, env } = await prepareChat(options);
  const terminal = startChat(options.args ?? [], { ...options, place, env: { ...env, ...options.env } });
  await terminal.waitFor(isReady);
  return { terminal, model, place };
};

const RULE = /^─+$/;

/** The rows below the last rule: the input, what is shown under it, the status line. A low screen has no rule. */
export const rowsBelowRule = (terminal: Terminal): readonly string[] => {
  const rows = terminal.rows();
  const rule = rows.findLastIndex((row) => RULE.test(row));
  const first = rule < 0 ? rows.findLastIndex((row) => row.startsWith("›")) : rule + 1;
  return rows.slice(Math.max(0, first)).filter((row) => row !== "");
};

/** The input is there, and below it the mode: only a chat that has started knows it. */
export const isReady = (terminal: Terminal): boolean => {
  const [input, ...below] = rowsBelowRule(terminal);
  return input?.startsWith("›") === true && below.some((row) => /^ {2}(ask|auto-edit|plan|auto|yolo)\b/.test(row));
};

/** The input's first row without its mark. */
export const inputText = (terminal: Terminal): string =>
  rowsBelowRule(terminal)
    .find((row) => row.startsWith("›"))
    ?.slice(2) ?? "";

/** The cursor leaves the input when keys are answers to a question. Within a frame it is gone in any case. */
export const takesAnswers = (terminal: Terminal): boolean =>
  terminal.mode(25) === false && terminal.mode(2026) === false;

/** How many rules stand in scrollback and screen: more than one is a ghost. */
export const countRules = (terminal: Terminal): number =>
  terminal
    .all()
    .split("\n")
    .filter((line) => RULE.test(line)).length;

/** How often a text stands in scrollback and screen. */
export const countOf = (terminal: Terminal, text: string): number => terminal.all().split(text).length - 1;

/** Types a message and sends it. */
export const say = (terminal: Terminal, text: string): void => {
  terminal.type(text);
  terminal.send("\r");
};
