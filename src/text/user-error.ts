export type UserErrorOptions = {
  /** The process's exit code, one of `EXIT`. */
  readonly exitCode: number;
  /** What the person can do next. */
  readonly hint?: string;
  readonly cause?: unknown;
};

/** A failure that a person can mend. The message says what failed and on what; no stack is shown for it. */
export class UserError extends Error {
  readonly exitCode: number;
  readonly hint: string | undefined;

  constructor(message: string, options: UserErrorOptions) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "UserError";
    this.exitCode = options.exitCode;
    this.hint = options.hint;
  }
}
