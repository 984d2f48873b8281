import type { Answer, Draft, PermissionQuestion, Reviser, Revision } from "../../schema/ask.ts";
import { errorMessage } from "../../text/error-message.ts";
import type { Strings } from "../../text/strings.ts";

/** Lets the person's editor change a text. */
export type EditDraft = (draft: Draft) => Promise<string | { readonly problem: string }>;

export type Changed = Revision | { readonly type: "unchanged" };

/** The question about the call as the person's editor has left it. */
export const editCall = async (reviser: Reviser, question: PermissionQuestion, edit: EditDraft): Promise<Changed> => {
  const draft = await reviser.draft(question);
  if ("problem" in draft) return { type: "problem", ...draft };
  const text = await edit(draft);
  if (typeof text !== "string") return { type: "problem", ...text };
  return text === draft.text ? { type: "unchanged" } : reviser.withText(question, draft, text);
};

/** The question about the call with only some of its hunks. */
export const keepOnly = async (
  reviser: Reviser,
  question: PermissionQuestion,
  kept: readonly boolean[],
): Promise<Changed> => {
  if (!kept.includes(false)) return { type: "unchanged" };
  if (!kept.includes(true)) return { type: "nothing" };
  return reviser.withHunks(
    question,
    [...kept.keys()].filter((index) => kept[index]),
  );
};

export type RevisedQuestion = {
  readonly question: PermissionQuestion;
  readonly note: string;
  readonly isProblem: boolean;
};

/**
 * What stands before the person after a change of the question, with a word about it; or the answer, where nothing would
 * be left to do. Never rejects.
 */
export const revisedQuestion = async (
  change: Promise<Changed>,
  question: PermissionQuestion,
  strings: Strings["question"],
): Promise<RevisedQuestion | Answer> => {
  try {
    return afterChange(await change, question, strings);
  } catch (error) {
    return { question, note: errorMessage(error), isProblem: true };
  }
};

const afterChange = (
  changed: Changed,
  question: PermissionQuestion,
  strings: Strings["question"],
): RevisedQuestion | Answer => {
  switch (changed.type) {
    case "question":
      return { question: changed.question, note: strings.changed, isProblem: false };
    case "unchanged":
      return { question, note: strings.unchanged, isProblem: false };
    case "problem":
      return { question: changed.question ?? question, note: changed.problem, isProblem: true };
    case "nothing":
      return { decision: "reject", scope: "once", feedback: strings.nothingKept };
    default:
      return changed satisfies never;
  }
};
