/** When a hook runs. */
export type HookEvent = "tool.pre" | "tool.post" | "session.start" | "prompt.submit" | "stop" | "session.end";

/** A program of the person's own that hears of an event and may have its say; the setting `hooks`. */
export type Hook = {
  readonly on: HookEvent;
  /** A tool's name, `*` standing for any characters; absent = every tool. For `tool.pre` and `tool.post`. */
  readonly match?: string | undefined;
  /** For `bash -c`, in the work directory. */
  readonly command: string;
  /** Milliseconds; the name is the setting's. */
  readonly timeout?: number | undefined;
  readonly onFailure?: "block" | "allow" | undefined;
};

const TIMEOUT_MS = 60_000;
// Leaving waits for these.
const END_TIMEOUT_MS = 5000;

export const timeoutMsOf = ({ on, timeout }: Hook): number =>
  timeout ?? (on === "session.end" ? END_TIMEOUT_MS : TIMEOUT_MS);

/** Whether a failure of the hook counts as its no: before a tool runs it does, unless the setting says otherwise. */
export const failureBlocks = ({ on, onFailure }: Hook): boolean =>
  (onFailure ?? (on === "tool.pre" ? "block" : "allow")) === "block";

/** Whether the hook is for this tool. */
export const isForTool = ({ match }: Hook, name: string): boolean => match === undefined || matchesName(match, name);

/** Without a regular expression: a pattern of many stars costs a walk, not a search. */
const matchesName = (pattern: string, name: string): boolean => {
  const [first = "", ...rest] = pattern.split("*");
  const last = rest.pop();
  if (last === undefined) return name === first;
  if (!name.startsWith(first)) return false;
  let from = first.length;
  for (const part of rest) {
    const at = name.indexOf(part, from);
    if (at < 0) return false;
    from = at + part.length;
  }
  return name.length - last.length >= from && name.endsWith(last);
};

const MAX_LINE = 80;

/** A command or a message as a person knows it again. */
export const firstLine = (text: string): string => {
  const whole = text.trim();
  const line = whole.split("\n", 1)[0] ?? "";
  return line.length > MAX_LINE || line.length < whole.length ? `${line.slice(0, MAX_LINE)}…` : line;
};
