import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Chat, openChat, say, takesAnswers } from "./chat.ts";
import type { Terminal } from "./terminal.ts";

export type Call = readonly [name: string, args: unknown];

export const write = (path: string, content: string): Call => ["write_file", { path, content }];
export const bash = (command: string): Call => ["bash", { command }];

/** All files of the work directory. */
export const files = ({ place }: Pick<Chat, "place">): Readonly<Record<string, string>> =>
  Object.fromEntries(
    readdirSync(place.workDir, { withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ name }) => [name, readFileSync(join(place.workDir, name), "utf8")] as const),
  );

export const asked = (terminal: Terminal, text: string | RegExp): Promise<void> =>
  terminal.waitFor(
    (shown) =>
      (typeof text === "string" ? shown.screen().includes(text) : text.test(shown.screen())) && takesAnswers(shown),
  );

/** A message, the calls that it leads to, and an answer that names it. */
export const turn = async ({ terminal, model }: Chat, text: string, ...calls: readonly Call[]): Promise<void> => {
  say(terminal, text);
  if (calls.length > 0) {
    const first = await model.next();
    first.callTools(...calls);
    first.finish();
  }
  (await model.next()).answer(`Done: ${text}.`);
  await terminal.waitFor(new RegExp(`Done: ${text}\\.[\\s\\S]*\\n›`));
};

/** `a.txt` is changed by a tool, `b.txt` by a command; a third turn changes both again. */
export const worked = async (): Promise<Chat> => {
  const chat = await openChat({ args: ["--yolo"], rows: 44, files: { "a.txt": "one\n", "kept.txt": "kept\n" } });
  await turn(chat, "first", write("a.txt", "two\n"));
  await turn(chat, "second", bash("echo b > b.txt; rm kept.txt"));
  await turn(chat, "third", write("b.txt", "bb\n"), write("a.txt", "three\n"));
  return chat;
};

/** What is there then. */
export const AFTER = { "a.txt": "three\n", "b.txt": "bb\n" };
/** Chooses a turn of the list, then what is restored. */
export const rewind = async (
  { terminal }: Pick<Chat, "terminal">,
  entry: string,
  title: string,
  choice: string,
): Promise<void> => {
  say(terminal, "/rewind");
  await asked(terminal, "Go back to before what?");
  terminal.send(entry);
  await asked(terminal, title);
  terminal.send(choice);
};
