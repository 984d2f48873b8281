import { errorCode } from "../../text/error-message.ts";
import type { Strings } from "../../text/strings.ts";
import { ToolError } from "../tool.ts";

/** What stood in the way of a file tool. Tests and callers decide by this, never by the message. */
export type FileErrorKind =
  | "bad-path"
  | "bad-argument"
  | "outside"
  | "sensitive"
  | "protected"
  | "file-not-found"
  | "is-directory"
  | "special-file"
  | "read-only"
  | "not-text"
  | "too-large"
  | "io"
  | EditErrorKind;

export type EditErrorKind = "empty-source" | "no-change" | "not-unique" | "not-found";

/** A file tool could not do its job. The message is complete and goes to the model as it is. */
export class FileError extends ToolError {
  readonly kind: FileErrorKind;

  constructor(kind: FileErrorKind, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "FileError";
    this.kind = kind;
  }
}

/** An error of the system as a FileError whose sentence names the reason; every other error as it is. */
export const fromSystem = (
  error: unknown,
  strings: Strings["files"],
  sentence: (reason: string) => string,
): unknown => {
  const code = errorCode(error);
  if (code === undefined || error instanceof ToolError) return error;
  const reason = Object.entries(strings.reasons).find(([known]) => known === code)?.[1] ?? code;
  return new FileError(code === "EISDIR" ? "is-directory" : "io", sentence(reason), error);
};
