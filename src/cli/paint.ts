import type { Paint } from "../headless/progress.ts";
import type { Env } from "./setup.ts";

/** Colours for standard error, as far as the terminal has them and NO_COLOR does not forbid it. */
export const stderrPaint = async (env: Env): Promise<Paint> => {
  const { Chalk, chalkStderr } = await import("chalk");
  const { green, red, dim } = new Chalk({ level: env["NO_COLOR"] ? 0 : chalkStderr.level });
  return { success: green, failure: red, dim };
};
