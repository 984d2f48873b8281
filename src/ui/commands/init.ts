import type { CommandContext } from "./command-context.ts";

/**
 * `/init [words]`: has the model write the project's `AGENTS.md`, by the ordinary tools and permissions. The person
 * sees the command, the model an order.
 */
export const runInit = (words: string, { submit }: CommandContext): void =>
  submit(words === "" ? ORDER : `${ORDER}\n\n${words}`);

/** In English whatever the language, as the system prompt. */
const ORDER = `Write AGENTS.md in the working directory: what a coding agent must know to work in this repository, and would not guess.

Look first, in this order, and no further than you need:
- AGENTS.md, if there is one. Then improve it: keep what a person wrote and is still true, mend what is not, add what is missing. Do not write over it.
- CLAUDE.md, GEMINI.md, .cursorrules, .cursor/rules, .windsurfrules, .github/copilot-instructions.md: take over the rules that still hold.
- README and CONTRIBUTING; the manifests and task runners (package.json, pyproject.toml, Cargo.toml, go.mod, Makefile, justfile …); the configuration of CI, linters, formatters and tests.
- The folders and a few of the central files, for how the code is laid out and written.

Then write, with what applies of:
1. One or two sentences: what this is.
2. Commands: install, build, run, lint, type check, all tests, ONE test alone. Take each from a file that you have read, exactly as it is there; if it is quick and harmless, try it.
3. Layout: only what the names of the folders do not say.
4. Style and habits that the code follows and no tool enforces.
5. Traps: generated files, order of steps, services that must run, what must not be touched.

Rules for the text:
- Only what is true and what you have seen. What you could not verify is left out, or marked so.
- No advice that holds everywhere, no list of all files, nothing that a glance at the code tells, no secrets.
- Short: about 20 to 60 lines of plain Markdown. Every line costs something in every session.

When it is done, say in a few sentences what is in it and what the person should check.`;
