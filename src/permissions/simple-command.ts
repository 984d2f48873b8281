import type { Doubt, Word } from "./shell-word.ts";

export type RedirectTarget = {
  /** As written, without the file descriptor: `>`, `>>`, `<` … Here-documents are none. */
  readonly operator: string;
  readonly target: Word;
};

/** One program (or builtin) that a command line would start. */
export type SimpleCommand = {
  /** Its name and arguments, behind every wrapper. Empty where there are only redirects or assignments. */
  readonly words: readonly Word[];
  /** The same with the wrappers around it, the outermost first: `sudo timeout 5 make`, `timeout 5 make`. */
  readonly outer: readonly (readonly Word[])[];
  /** The variables that are set for it. */
  readonly assigned: readonly string[];
  readonly redirects: readonly RedirectTarget[];
  /** The folders that it may run in, after `cd`; null is one that only the shell can know. */
  readonly directories: readonly (string | null)[];
  /** The names of the commands whose output it may read: those before it in its pipeline, those in its redirects. */
  readonly fedBy: readonly string[];
  /** The names of the functions that it stands in. */
  readonly inFunctions: readonly string[];
  readonly isBackground: boolean;
};

export type ParsedCommand = {
  readonly commands: readonly SimpleCommand[];
  /** False where the list may miss a command. */
  readonly isCertain: boolean;
  /**
   * Nothing but simple commands, joined by `;`, `&`, `&&`, `||`, `|` and brackets. Loops, tests, functions, arithmetic
   * and the like can give PATH or a folder's name another value, and literal words another meaning.
   */
  readonly isPlain: boolean;
  /** Why it is not certain; empty when it is. */
  readonly doubts: readonly Doubt[];
};

export type ShellPlaces = { readonly workDir: string; readonly homeDir: string };
