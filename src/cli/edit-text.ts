import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { errorMessage } from "../text/error-message.ts";
import type { Strings } from "../text/strings.ts";
import { childEnv } from "../tools/shell/child-env.ts";
import { strictDecoder } from "../tools/workspace/text-file.ts";

export type EditTextOptions = {
  /** Of the file that the text is; absent for a message, whose line endings do not matter. */
  readonly name?: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Variables that the editor does not get. */
  readonly secretNames: Iterable<string>;
  readonly strings: Strings["chat"];
  /** Ends the editor. */
  readonly signal: AbortSignal;
};

/**
 * Opens a text in the person's editor ($VISUAL, $EDITOR, else vi), which has the terminal until it ends. Returns the
 * text as it was left there, or why that could not be had.
 */
export const editText = async (
  text: string,
  { name, env, secretNames, strings, signal }: EditTextOptions,
): Promise<string | { readonly problem: string }> => {
  const editor = env["VISUAL"]?.trim() || env["EDITOR"]?.trim() || "vi";
  // 0700: nobody else reads what is being written.
  const folder = await mkdtemp(join(tmpdir(), "harness9-edit-"));
  const file = join(folder, name ?? "message.md");
  try {
    await writeFile(file, text, { mode: 0o600 });
    const status = await runEditor(editor, file, { env: childEnv(env, secretNames), signal });
    if (status !== 0) return { problem: strings.editorFailed(editor, status) };
    // What is not UTF-8 would not be what the person has written.
    const left = strictDecoder("utf-8").decode(await readFile(file));
    return withoutEditorsNewline(name === undefined ? left.replaceAll("\r\n", "\n") : left, text);
  } catch (error) {
    return { problem: strings.editorFailed(editor, errorMessage(error)) };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};

/** The exit status, or the signal that ended it. By the shell, as git does: `code --wait` and quotes work. */
const runEditor = (
  editor: string,
  file: string,
  { env, signal }: { readonly env: Record<string, string>; readonly signal: AbortSignal },
): Promise<number | string> =>
  new Promise((resolve, reject) => {
    const command = IS_ONE_COMMAND.test(editor) ? `exec ${editor}` : editor;
    const child = spawn("sh", ["-c", `${command} "$@"`, editor, file], { env, stdio: "inherit" });
    // It puts the terminal in order before it ends; until then it has it.
    let insist: NodeJS.Timeout | undefined;
    const end = (): void => {
      child.kill();
      // Whoever leaves does not wait for an editor that will not go.
      insist = setTimeout(() => child.kill("SIGKILL"), GRACE_MS);
    };
    signal.addEventListener("abort", end, { once: true });
    child.once("close", () => {
      signal.removeEventListener("abort", end);
      clearTimeout(insist);
    });
    child.once("error", reject);
    child.once("exit", (code, signal) => resolve(code ?? signal ?? ""));
  });

const GRACE_MS = 1000;

// It can take the shell's place, and with that its signals: no assignment before it, nothing that joins it with another.
const IS_ONE_COMMAND = /^(?!\s*(?:\w+=|:\s*$))[^;&|<>()`\n]+$/;

/** Most editors end a file with a newline that nobody has typed. */
const withoutEditorsNewline = (text: string, before: string): string =>
  before.endsWith("\n") ? text : text.replace(/\r?\n$/, "");
