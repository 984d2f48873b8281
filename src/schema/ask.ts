import type { ToolData } from "./tool.ts";

/** Where a permission rule is kept. */
export type RuleScope = "session" | "project" | "user";

/** Who settled a permission: see `permission.resolved`. */
export type DecidedBy = "person" | "rule" | "mode" | "guard" | "hook";

export type RuleOffer = {
  readonly scope: RuleScope;
  readonly rule: string;
  /** The file that it would be saved in, as people write it. */
  readonly place?: string;
};

export type PermissionQuestion = {
  readonly kind: "permission";
  readonly toolCallId: string;
  readonly name: string;
  /** The model's raw JSON text. */
  readonly arguments: string;
  readonly preview?: ToolData;
  readonly reason: string;
  readonly by: "mode" | "rule" | "guard" | "hook" | "secret" | "sandbox";
  readonly rule?: string;
  /** What "always" may save. A guarded call offers nothing. */
  readonly offers: readonly RuleOffer[];
};

export type ChoiceQuestion = {
  readonly kind: "choice";
  readonly title: string;
  readonly text?: string;
  readonly options: readonly { readonly id: string; readonly label: string }[];
};

export type TextQuestion = { readonly kind: "text"; readonly title: string; readonly secret?: boolean };

/** The one question that a front end must be able to put to a person. */
export type Question = PermissionQuestion | ChoiceQuestion | TextQuestion;

export type Answer =
  | {
      readonly decision: "allow";
      readonly scope: "once" | RuleScope;
      readonly rule?: string;
      readonly arguments?: string;
    }
  | {
      readonly decision: "reject";
      readonly scope: "once" | RuleScope;
      readonly rule?: string;
      readonly feedback?: string;
    }
  | { readonly choice: string }
  | { readonly text: string }
  | { readonly dismissed: true };

/** What a person may change of a call; `name` is a file name, by which an editor highlights. */
export type Draft = {
  readonly name: string;
  readonly text: string;
  /** What the text would replace; null where there is none to compare it with. */
  readonly before: string | null;
};

/** What became of a change: the question about the changed call, a call that would do nothing, or why it is none. */
export type Revision =
  | { readonly type: "question"; readonly question: PermissionQuestion }
  | { readonly type: "nothing" }
  /** `question`: what the call would do has changed by itself, and this is it now. */
  | { readonly type: "problem"; readonly problem: string; readonly question?: PermissionQuestion };

/**
 * Changes a call while the question about it is open. Runs nothing: the arguments of the question that comes back are
 * for the answer. Each takes the question as it stands before the person, and none throws.
 */
export interface Reviser {
  draft(question: PermissionQuestion): Promise<Draft | { readonly problem: string }>;
  /** `draft` is what the person was given: what it would replace must still stand there. */
  withText(question: PermissionQuestion, draft: Draft, text: string): Promise<Revision>;
  /** Indices into the hunks of the question's preview, which must still be what the call would do. */
  withHunks(question: PermissionQuestion, kept: readonly number[]): Promise<Revision>;
}

/**
 * Puts a question to a person. An aborted signal or a dismissed question is a refusal.
 * Where no person can answer there is no `Ask` at all, and what would be asked is refused. A `reviser` is there where
 * the call can be changed.
 */
export type Ask = (question: Question, signal: AbortSignal, reviser?: Reviser) => Promise<Answer>;
