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

/**
 * Puts a question to a person. An aborted signal or a dismissed question is a refusal.
 * Where no person can answer there is no `Ask` at all, and what would be asked is refused.
 */
export type Ask = (question: Question, signal: AbortSignal) => Promise<Answer>;
