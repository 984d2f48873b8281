import { resolve } from "node:path";
import type { Input } from "../session/session.ts";
import { EXIT } from "../text/exit.ts";
import type { Strings } from "../text/strings.ts";
import { UserError } from "../text/user-error.ts";
import { readOptionFile } from "./named-files.ts";
import type { RunOptions } from "./program.ts";
import { readStdin } from "./read-stdin.ts";
import { say } from "./say.ts";

/** What the run is asked: the words of the command line, standard input, or both. @throws UserError where both are empty. */
export const readPrompt = async (words: string, strings: Strings["cli"]): Promise<Input> => {
  const hasWords = words.trim() !== "";
  const piped = await readStdin({ stdin: process.stdin, hasPrompt: hasWords, notice: say, strings });
  if (piped === undefined || piped.trim() === "") {
    if (hasWords) return { content: words, source: "person" };
    throw new UserError(strings.emptyPrompt, { exitCode: EXIT.input });
  }
  return hasWords
    ? { content: `${words}\n\n<stdin>\n${piped.replace(/\n$/, "")}\n</stdin>`, source: "person" }
    : { content: piped, source: "stdin" };
};

/** The text of `--system-prompt`, `--append-system-prompt`, or of the file that their `-file` forms name. @throws UserError */
export const promptText = (
  options: RunOptions,
  name: "systemPrompt" | "appendSystemPrompt",
  cwd: string,
  strings: Strings["cli"],
): string | undefined => {
  const flag = name === "systemPrompt" ? "--system-prompt" : "--append-system-prompt";
  const text = options[name];
  const file = options[`${name}File`];
  if (file === undefined) return text;
  if (text !== undefined) throw new UserError(strings.bothPrompts(flag, `${flag}-file`), { exitCode: EXIT.usage });
  return readOptionFile(`${flag}-file`, resolve(cwd, file), strings);
};
