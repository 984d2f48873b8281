import { type Instructions, loadInstructions } from "../session/instructions.ts";
import type { PromptPart } from "../session/prompt-parts.ts";
import { MEMORY_LINE, skillsPart } from "../session/system-prompt.ts";
import { visibleControls } from "../text/clean.ts";
import type { Mask } from "../text/mask.ts";
import type { Setup } from "./setup.ts";

/**
 * What stands in a system prompt beside its own text. A session that goes on has the prompt of its beginning: an
 * instruction file that has changed since is not told apart there.
 */
export const promptParts = (
  prompt: string,
  { paths, workDir, homeDir }: Pick<Setup, "paths" | "workDir" | "homeDir">,
  { mask, skills }: { readonly mask: Mask; readonly skills: readonly string[] },
): readonly PromptPart[] => {
  const parts: readonly PromptPart[] = [
    ...instructionParts(loadInstructions(paths.instructions, workDir), mask, homeDir),
    { kind: "memory", name: "", text: MEMORY_LINE },
    ...(skills.length > 0 ? [{ kind: "skills" as const, name: "", text: skillsPart(skills) }] : []),
  ];
  return parts.filter(({ text }) => prompt.includes(text));
};

/** Each file's text with its heading, as the prompt has it. */
const instructionParts = ({ text, files }: Instructions, mask: Mask, homeDir: string): readonly PromptPart[] => {
  const shown = mask(text);
  let from = 0;
  const starts = files.map(({ path }) => {
    from = Math.max(from, shown.indexOf(`# Instructions from ${visibleControls(path)}\n`, from));
    return from++;
  });
  return files.map(({ path }, index) => ({
    kind: "instructions",
    name: path.startsWith(`${homeDir}/`) ? `~${path.slice(homeDir.length)}` : path,
    text: shown.slice(starts[index], starts[index + 1]).trim(),
  }));
};
