import { isDeepStrictEqual } from "node:util";
import type { PermissionQuestion, Reviser, Revision } from "../schema/ask.ts";
import { errorMessage } from "../text/error-message.ts";
import type { Strings } from "../text/strings.ts";
import type { Invocation, Proposal } from "../tools/tool.ts";
import { keepHunks } from "../tools/workspace/keep-hunks.ts";

export type ReviserOptions = {
  /** The call with other arguments, as JSON text. @throws ArgumentError */
  readonly change: (text: string) => Invocation;
  /** The question about the changed call, or why it may not be. */
  readonly asked: (changed: Invocation) => Promise<Revision>;
  readonly strings: Strings["permission"];
};

/** How a person may change the call that a question is about; undefined for a tool that has no text to change. */
export const createReviser = (invocation: Invocation, options: ReviserOptions): Reviser | undefined => {
  const { tool } = invocation;
  if (!tool.proposal) return undefined;
  const { change, asked, strings } = options;

  /** What the call would do now, with the arguments that the person has made so far. */
  const proposed = async (question: PermissionQuestion): Promise<Proposal> => {
    const proposal = await tool.proposal?.(change(question.arguments).args);
    if (!proposal) throw new Error(`${tool.definition.name} proposes nothing`);
    return proposal;
  };

  const revised = async (proposal: Proposal, text: string): Promise<Revision> => {
    const args = proposal.with(text);
    return args === undefined ? { type: "nothing" } : asked(change(JSON.stringify(args)));
  };

  const previewOf = async (question: PermissionQuestion) => tool.preview?.(change(question.arguments).args);

  const outdated = async ({ preview: _, ...question }: PermissionQuestion): Promise<Revision> => {
    const preview = await previewOf(question);
    return {
      type: "problem",
      problem: strings.fileChanged,
      question: { ...question, ...(preview !== undefined && { preview }) },
    };
  };

  return {
    draft: async (question) => {
      try {
        const { name, text, before } = await proposed(question);
        return { name, text, before };
      } catch (error) {
        return { problem: errorMessage(error) };
      }
    },
    withText: (question, draft, text) =>
      failClosed(async () => {
        const proposal = await proposed(question);
        return proposal.before === draft.before ? revised(proposal, text) : outdated(question);
      }),
    withHunks: (question, kept) =>
      failClosed(async () => {
        const proposal = await proposed(question);
        const preview = await previewOf(question);
        const { before, text: after } = proposal;
        if (before === null || preview?.type !== "diff" || !isDeepStrictEqual(preview, question.preview))
          return outdated(question);
        return revised(proposal, keepHunks({ before, after, hunks: preview.hunks }, kept));
      }),
  };
};

/** Whatever goes wrong on the way, nothing has been changed and the question still stands. */
const failClosed = async (revise: () => Promise<Revision>): Promise<Revision> => {
  try {
    return await revise();
  } catch (error) {
    return { type: "problem", problem: errorMessage(error) };
  }
};
