import type { ToolResult } from "../schema/tool.ts";
import type { Strings } from "../text/strings.ts";
import { byteLength, headBytes } from "../text/utf8.ts";
import type { Invocation, Proposal } from "../tools/tool.ts";
import { unifiedDiff } from "../tools/workspace/unified-diff.ts";

const MAX_NOTED_BYTES = 4000;

/**
 * What the model is told of a call that a person has changed. Ask before the call runs: it compares what both would
 * leave.
 */
export const changeNote = async (
  asked: Invocation,
  changed: Invocation,
  strings: Strings["permission"],
): Promise<string> => {
  const [before, after] = await Promise.all([proposalOf(asked), proposalOf(changed)]);
  return `${strings.changedCall}\n${await difference(before, after, changed, strings)}`;
};

/** The result with the note at its end. */
export const withNote = (result: ToolResult, note: string): ToolResult => ({
  ...result,
  output: result.output === "" ? note : `${result.output.replace(/\n?$/, "\n")}\n${note}`,
});

const proposalOf = async ({ tool, args }: Invocation): Promise<Proposal | undefined> => {
  try {
    return await tool.proposal?.(args);
  } catch {
    // What cannot be done any more cannot be compared; the call itself says why.
    return undefined;
  }
};

const difference = async (
  before: Proposal | undefined,
  after: Proposal | undefined,
  { tool }: Invocation,
  strings: Strings["permission"],
): Promise<string> => {
  if (before === undefined || after === undefined) return strings.changeUnknown;
  if (tool.kind === "execute") return strings.changedCommand(bounded(after.text, strings));
  const diff = await unifiedDiff({
    before: { name: "proposed", text: before.text },
    after: { name: "applied", text: after.text },
  });
  return diff === null ? strings.changeUnknown : strings.changedText(bounded(diff, strings));
};

const bounded = (text: string, strings: Strings["permission"]): string =>
  byteLength(text) <= MAX_NOTED_BYTES ? text : `${headBytes(text, MAX_NOTED_BYTES)}\n${strings.changeCut}`;
