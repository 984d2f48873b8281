import type { LLMProvider } from "../providers/provider.ts";
import type { Ask } from "../schema/ask.ts";
import type { Emit, EngineEventBody, PermissionMode, ThinkingMode } from "../schema/event.ts";
import type { Attachment, Message } from "../schema/message.ts";
import type { ModelInfo } from "../schema/model.ts";
import type { Mask } from "../text/mask.ts";
import type { Strings } from "../text/strings.ts";
import type { Budget, BudgetLimits } from "./budget.ts";
import type { ContextView } from "./context-view.ts";
import type { ToolRunner } from "./tool-batch.ts";

/** What a run may come to; what is absent is not limited. */
export type Limits = BudgetLimits & {
  readonly maxTurns: number;
  readonly toolTimeoutMs: number;
  readonly maxConcurrentTools: number;
  readonly maxTimeMs?: number | undefined;
};

export type EngineOptions = {
  readonly provider: LLMProvider;
  readonly info: ModelInfo;
  readonly tools: ToolRunner;
  readonly limits: Limits;
  /** The session's, over many runs; absent = the limits hold for each run by itself. */
  readonly budget?: Budget | undefined;
  readonly thinking: ThinkingMode;
  readonly permissionMode: () => PermissionMode;
  readonly sandbox: string;
  readonly logFile: string | null;
  readonly session: { readonly id: string; readonly workDir: string };
  /** Hides the values of known keys in what tools return. */
  readonly mask: Mask;
  readonly strings: Strings["engine"];
  /** Absent where no person can answer. */
  readonly ask?: Ask | undefined;
  /** Milliseconds, for durations. */
  readonly now: () => number;
};

export type InputSource = EngineEventBody<"input.added">["source"];

export type Input = {
  readonly content: string;
  readonly source: InputSource;
  readonly attachments?: readonly Attachment[];
};

/** What a check may do that stands between a person, the model and the end of a run. */
export type CheckContext = { readonly emit: Emit; readonly signal: AbortSignal };

/** What enters the history for an input, in order; or why nothing does. */
export type Admission =
  | { readonly type: "admitted"; readonly inputs: readonly Input[] }
  | { readonly type: "blocked"; readonly reason: string };

/** What it returns goes to the model instead of ending the run; it throws StopError to fail the run. */
export type StopCheck = (answer: string, context: CheckContext) => Promise<Input | undefined>;

export type RunInput = {
  /** The session's messages, system prompt first. The engine appends to it and leaves it valid for the next request. */
  readonly history: Message[];
  readonly input: Input;
  /** What the person has queued since, as one input; each call takes it all. */
  readonly takeQueued?: () => Input | undefined;
  /** Looks at each input, queued ones too, before it enters the history. A run whose input is blocked ends. */
  readonly admit?: ((input: Input, context: CheckContext) => Promise<Admission>) | undefined;
  /** Looks at an answer that would end the run. */
  readonly stopping?: StopCheck | undefined;
  /** What the model is sent of the history; absent = the history. */
  readonly view?: ContextView | undefined;
};

/** A `stopping` check that gives up on the run. */
export class StopError extends Error {}
