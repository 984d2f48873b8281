import { EXIT } from "../text/exit.ts";
import type { Strings } from "../text/strings.ts";
import { UserError } from "../text/user-error.ts";
import type { RunOptions } from "./program.ts";

/** Which session is to go on. */
export type ResumeRequest = {
  readonly session: { readonly type: "newest" } | { readonly type: "id"; readonly id: string };
  /** Whether it goes on as another one, and stays as it is. */
  readonly asFork: boolean;
};

/** What the flags ask for; undefined = a new session. @throws UserError */
export const resumeRequest = (
  { continue: newest, resume, sessionId, fork, session: isKept }: RunOptions,
  strings: Strings["sessions"],
): ResumeRequest | undefined => {
  const given = [
    ...(newest ? ["--continue"] : []),
    ...(resume ? ["--resume"] : []),
    ...(sessionId === undefined ? [] : ["--session"]),
  ];
  if (given.length > 1) throw new UserError(strings.oneOf(given), { exitCode: EXIT.usage });
  if (fork && given.length === 0) throw new UserError(strings.forkAlone, { exitCode: EXIT.usage });
  // Without a journal of its own, a session is read and left alone.
  const asFork = fork === true || !isKept;
  if (sessionId !== undefined) return { session: { type: "id", id: sessionId }, asFork };
  return newest ? { session: { type: "newest" }, asFork } : undefined;
};
