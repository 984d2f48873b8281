import { statSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { extname, join, resolve } from "node:path";
import { isObservation, type Message } from "../schema/message.ts";
import type { ToolCall } from "../schema/tool.ts";
import { isPlanReminder } from "../session/plan-reminder.ts";
import { isRewindReminder } from "../session/rewind-reminder.ts";
import { errorCode } from "../text/error-message.ts";
import { printableText } from "../text/printable-text.ts";
import type { Strings } from "../text/strings.ts";
import { writing } from "./writing.ts";

export type ConversationTitle = { readonly sessionId: string; readonly workDir: string; readonly model: string };

/** A conversation as Markdown, without its system prompt, keys masked. */
export const conversationMarkdown = (
  messages: readonly Message[],
  { sessionId, workDir, model }: ConversationTitle,
  strings: Strings["chat"],
): string => {
  const parts = messages.flatMap((message) => messageParts(message, strings));
  return `${[`# harness9 ${sessionId}`, `- ${workDir}\n- ${model}`, ...parts].map(printableText).join("\n\n")}\n`;
};

const messageParts = (message: Message, strings: Strings["chat"]): readonly string[] => {
  switch (message.role) {
    case "system":
      return [];
    case "user":
      if (isObservation(message))
        return [message.isError ? strings.exportFailure : strings.exportResult, fenced(message.content)];
      // Nobody has said it.
      if (isPlanReminder(message.content) || isRewindReminder(message.content)) return [];
      return [
        `## ${strings.exportPerson}`,
        message.content.trim(),
        ...(message.attachments ?? []).map(({ path }) => `- \`${path}\``),
      ];
    case "assistant":
      return [
        `## ${strings.exportModel}`,
        ...(message.thinking ? [quoted(message.thinking.text)] : []),
        ...(message.content.trim() === "" ? [] : [message.content.trim()]),
        ...message.toolCalls.flatMap(callParts),
      ];
    default:
      return message satisfies never;
  }
};

const callParts = ({ name, arguments: text }: ToolCall): readonly string[] => [`### ${name}`, fenced(text, "json")];

const quoted = (text: string): string =>
  text
    .trim()
    .split("\n")
    .map((line) => `> ${line}`.trimEnd())
    .join("\n");

/** A fence that nothing inside can close. */
const fenced = (text: string, language = ""): string => {
  const runs = text.match(/`{3,}/g) ?? [];
  const fence = "`".repeat(Math.max(3, ...runs.map((run) => run.length + 1)));
  return `${fence}${language}\n${text.replace(/\n$/, "")}\n${fence}`;
};

export type ExportPlace = {
  readonly sessionId: string;
  readonly workDir: string;
  readonly homeDir: string;
  readonly format?: "md" | "json";
};

/** Where an export goes: the name that was asked for, or one of ours in that folder. `~` is the person's home. */
export const exportPath = (
  asked: string | undefined,
  { sessionId, workDir, homeDir, format = "md" }: ExportPlace,
): string => {
  const ours = `harness9-${sessionId}.${format}`;
  const text = asked?.trim() ?? "";
  if (text === "") return join(workDir, ours);
  const path = resolve(
    workDir,
    text.replace(/^~(?=\/|$)/, () => homeDir),
  );
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ? join(path, ours) : path;
};

/**
 * Writes a new file. Where the name is taken, the next free one of `name-1.md`, `name-2.md` … is. Returns its path.
 * @throws UserError
 */
export const writeNewFile = (path: string, text: string, strings: Strings["cli"]): Promise<string> =>
  writing(path, strings, async () => {
    const extension = extname(path);
    const stem = path.slice(0, path.length - extension.length);
    for (let count = 0; ; count += 1) {
      const candidate = count === 0 ? path : `${stem}-${count}${extension}`;
      if (await writeIfFree(candidate, text)) return candidate;
    }
  });

const writeIfFree = async (path: string, text: string): Promise<boolean> => {
  try {
    await writeFile(path, text, { flag: "wx" });
    return true;
  } catch (error) {
    if (errorCode(error) === "EEXIST") return false;
    throw error;
  }
};
