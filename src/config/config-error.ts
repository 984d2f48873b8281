import { EXIT } from "../text/exit.ts";
import { UserError } from "../text/user-error.ts";

/** A setting that cannot be used. The message names the place (file and line, variable or flag) and the key. */
export class ConfigError extends UserError {
  constructor(
    message: string,
    options: { readonly exitCode?: number; readonly hint?: string; readonly cause?: unknown } = {},
  ) {
    super(message, { exitCode: EXIT.config, ...options });
    this.name = "ConfigError";
  }
}
