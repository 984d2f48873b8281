import { UNKNOWN_MODEL } from "../schema/model.ts";
import { stripControls } from "../text/clean.ts";
import { printableJson } from "../text/printable-json.ts";
import { createTools } from "./compose-tools.ts";
import type { RunOptions } from "./program.ts";
import { prepare, type Surroundings } from "./setup.ts";
import { openSkills } from "./skills.ts";

/** `harness9 tools`: what the model may call. */
export const printTools = async (
  options: RunOptions & { readonly json?: true },
  surroundings: Surroundings,
): Promise<void> => {
  const setup = await prepare(surroundings, options);
  const { registry } = createTools(setup, {
    outputsDir: setup.paths.sessions,
    info: UNKNOWN_MODEL,
    permissionMode: () => "auto",
    guard: true,
    ask: undefined,
    skills: await openSkills(setup),
    mask: (text) => text,
  });
  const tools = registry.getAvailableTools();
  if (options.json) process.stdout.write(`${printableJson(tools, { indent: 2 })}\n`);
  else for (const { name, description } of tools) process.stdout.write(`${name}\n  ${stripControls(description)}\n`);
};
