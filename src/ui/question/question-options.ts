import type { Answer, Question, RuleScope } from "../../schema/ask.ts";
import { visibleControls } from "../../text/clean.ts";
import type { Strings } from "../../text/strings.ts";

/** One way to answer. `feedback` first takes a line of text from the person. */
export type QuestionOption = {
  /** The letter or digit that chooses it; none in long lists, where what is typed narrows the choice. */
  readonly key?: string;
  readonly label: string;
  readonly answer: Answer | "feedback";
};

/** The answers that a question offers, in the order in which they are numbered. A question for text has none. */
export const questionOptions = (question: Question, strings: Strings["question"]): readonly QuestionOption[] => {
  switch (question.kind) {
    case "permission": {
      const allow = (scope: "once" | RuleScope, rule?: string): Answer =>
        rule === undefined ? { decision: "allow", scope } : { decision: "allow", scope, rule };
      // Rules that outlive the session need a place that shows and takes them back; this version has none.
      const session = question.offers.find(({ scope }) => scope === "session");
      return [
        { key: "y", label: question.by === "guard" ? strings.runOnce : strings.yes, answer: allow("once") },
        ...(session
          ? [{ key: "a", label: strings.always(visibleControls(session.rule)), answer: allow("session", session.rule) }]
          : []),
        { key: "n", label: strings.noWithReason, answer: "feedback" as const },
      ];
    }
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
