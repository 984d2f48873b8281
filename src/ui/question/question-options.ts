import type { Answer, PermissionQuestion, Question, RuleOffer, RuleScope } from "../../schema/ask.ts";
import { visibleControls } from "../../text/clean.ts";
import type { Strings } from "../../text/strings.ts";

/** What an answer still needs: a line of text, the editor, a choice of hunks; or it takes the changes back. */
export type NextStep = "feedback" | "edit" | "hunks" | "restore";

/** One way to answer. */
export type QuestionOption = {
  /** The letter or digit that chooses it; none in long lists, where what is typed narrows the choice. */
  readonly key?: string;
  readonly label: string;
  readonly answer: Answer | NextStep;
};

/** Of a call that the person can change: whether this has been done. */
export type Changes = { readonly isChanged: boolean };

/** The answers that a question offers, in the order in which they are numbered. A question for text has none. */
export const questionOptions = (
  question: Question,
  strings: Strings["question"],
  changes?: Changes,
): readonly QuestionOption[] => {
  switch (question.kind) {
    case "permission":
      return [
        {
          key: "y",
          label: question.by === "guard" ? strings.runOnce : strings.yes,
          answer: {
            decision: "allow",
            scope: "once",
            ...(changes?.isChanged === true && { arguments: question.arguments }),
          },
        },
        ...question.offers.map(
          (offer): QuestionOption => ({
            key: SCOPE_KEYS[offer.scope],
            label: offerLabel(offer, strings),
            answer: { decision: "allow", scope: offer.scope, rule: offer.rule },
          }),
        ),
        ...(changes ? changeOptions(question, strings, changes) : []),
        { key: "n", label: strings.noWithReason, answer: "feedback" },
      ];
    case "choice":
      return question.options.map(({ id, label }, index, all) => ({
        ...(all.length <= MAX_NUMBERED && { key: String(index + 1) }),
        label: visibleControls(label),
        answer: { choice: id },
      }));
    case "text":
      return [];
    default:
      return question satisfies never;
  }
};

const changeOptions = (
  { preview }: PermissionQuestion,
  strings: Strings["question"],
  { isChanged }: Changes,
): readonly QuestionOption[] => {
  const hunks = preview?.type === "diff" ? preview.hunks.length : 0;
  return [
    { key: "e", label: strings.edit, answer: "edit" },
    ...(hunks > 1 ? [{ key: "h", label: strings.chooseHunks(hunks), answer: "hunks" } as const] : []),
    ...(isChanged ? [{ key: "r", label: strings.restore, answer: "restore" } as const] : []),
  ];
};

const SCOPE_KEYS: Readonly<Record<RuleScope, string>> = { session: "a", project: "p", user: "u" };

/** What exactly is allowed from now on, and where that is written down. */
const offerLabel = ({ scope, rule, place = "" }: RuleOffer, strings: Strings["question"]): string => {
  switch (scope) {
    case "session":
      return strings.always(visibleControls(rule));
    case "project":
      return strings.alwaysHere(visibleControls(rule), visibleControls(place));
    case "user":
      return strings.alwaysAnywhere(visibleControls(rule), visibleControls(place));
    default:
      return scope satisfies never;
  }
};

const MAX_NUMBERED = 9;

/** Whether typing narrows the choice. */
export const isFiltered = (options: readonly QuestionOption[]): boolean => options.length > MAX_NUMBERED;

/** The options whose label holds every word of the filter. */
export const filterOptions = (options: readonly QuestionOption[], filter: string): readonly QuestionOption[] => {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  return words.length === 0
    ? options
    : options.filter(({ label }) => words.every((word) => label.toLowerCase().includes(word)));
};
