import { errorCode, systemMessage } from "../text/error-message.ts";
import { EXIT } from "../text/exit.ts";
import type { Strings } from "../text/strings.ts";
import { UserError } from "../text/user-error.ts";

/** Makes what the system says about a file that cannot be written a UserError that names it. */
export const writing = async <T>(path: string, strings: Strings["cli"], write: () => Promise<T>): Promise<T> => {
  try {
    return await write();
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    const message = strings.outputUnwritable(path, systemMessage(error));
    throw new UserError(message, { exitCode: EXIT.failed, cause: error });
  }
};
