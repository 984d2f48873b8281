/** What a caught value says. */
export const errorMessage = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** The system's error code, as in `ENOENT`, where the caught value has one. */
export const errorCode = (error: unknown): string | undefined =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;

/** The system's own words, without Node's `ENOENT: ` and without the call. */
export const systemMessage = (error: unknown): string =>
  errorMessage(error)
    .replace(/^[A-Z0-9]+: /, "")
    .replace(/, \w+( '.*')?$/, "");

/** With its stack, for the log. */
export const errorStack = (error: unknown): string =>
  error instanceof Error ? (error.stack ?? error.message) : String(error);
