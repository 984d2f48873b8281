import { visibleControls } from "../../text/clean.ts";
import type { Strings } from "../../text/strings.ts";

const MAX_VALUES = 3;
const MAX_VALUE = 60;
// No terminal row is as long; a file's content or half of it may stand in the arguments.
const MAX_RAW = 2000;

/**
 * What a call does, in one line of any length that is safe to draw. `argumentsText` is the model's raw JSON, which may
 * be broken or incomplete: then it is shown as it is.
 */
export const toolSummary = (name: string, argumentsText: string, strings: Strings["steps"]): string => {
  const values = parseObject(argumentsText);
  if (values === undefined) return rawSummary(argumentsText);
  const { command, path } = values;
  switch (name) {
    case "bash":
      return typeof command === "string" ? commandSummary(command, strings) : valuesSummary(values);
    case "read_file":
      return typeof path === "string" ? shown(path) + rangeSummary(values) : valuesSummary(values);
    case "write_file":
    case "edit_file":
      return typeof path === "string" ? shown(path) : valuesSummary(values);
    default:
      return valuesSummary(values);
  }
};

/**
 * The lines of a whole call that its summary leaves out, not yet safe to draw: a command of several lines, or all
 * arguments with their names. Of a file only the path counts: its text is drawn as a diff.
 */
export const callText = (name: string, argumentsText: string): string[] => {
  const values = parseObject(argumentsText);
  if (values === undefined) return argumentsText.split("\n");
  const { command } = values;
  if (name === "bash" && typeof command === "string") return command.split("\n");
  return Object.entries(values).flatMap(([key, value]) => {
    const lines = (typeof value === "string" ? value : JSON.stringify(value)).split("\n");
    return lines.length === 1 ? [`${key}: ${lines[0]}`] : [`${key}:`, ...lines.map((line) => `  ${line}`)];
  });
};

type Values = { readonly [key: string]: unknown };

const parseObject = (text: string): Values | undefined => {
  if (text.trim() === "") return {};
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  } catch {
    // Shown as it is.
    return undefined;
  }
};

const commandSummary = (command: string, strings: Strings["steps"]): string => {
  const lines = command.trim().split("\n");
  const first = shown((lines[0] ?? "").trimEnd().replaceAll("\t", " "));
  return lines.length === 1 ? first : `${first} ${strings.commandLinesMore(lines.length - 1)}`;
};

/** `:10-59`, or `:10-` to the end. */
const rangeSummary = ({ offset, limit }: Values): string => {
  if (typeof offset !== "number" && typeof limit !== "number") return "";
  const first = typeof offset === "number" ? offset : 1;
  return `:${first}-${typeof limit === "number" ? first + limit - 1 : ""}`;
};

const valuesSummary = (values: Values): string =>
  Object.entries(values)
    .filter(([, value]) => ["string", "number", "boolean"].includes(typeof value) && value !== "")
    .slice(0, MAX_VALUES)
    .map(([key, value]) => `${short(key)}=${short(String(value))}`)
    .join(" ");

const short = (text: string): string => {
  const start = cutCharacters(text, MAX_VALUE);
  return oneLine(start) + (start.length < text.length ? "…" : "");
};

const rawSummary = (text: string): string => {
  const start = cutCharacters(text.trim(), MAX_RAW);
  return oneLine(start) + (start.length < text.trim().length ? "…" : "");
};

/** At most `length` code units, and never half of a character. */
const cutCharacters = (text: string, length: number): string =>
  text.length <= length ? text : text.slice(0, length).replace(/[\ud800-\udbff]$/, "");

const oneLine = (text: string): string => shown(text.replace(/[ \t\r\n]+/g, " ").trim());

const shown = (text: string): string =>
  text.length <= MAX_RAW ? visibleControls(text) : `${visibleControls(cutCharacters(text, MAX_RAW))}…`;
