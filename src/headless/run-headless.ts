import type { Writable } from "node:stream";
import type { EngineEvent, EngineEventBody, RunError } from "../schema/event.ts";
import { NO_USAGE } from "../schema/model.ts";
import type { Input, Session } from "../session/session.ts";
import { maskKeyShapes } from "../text/mask.ts";
import { printableJson } from "../text/printable-json.ts";
import { printableText } from "../text/printable-text.ts";
import type { Strings } from "../text/strings.ts";
import { createEnvelope, type EnvelopeOptions } from "./envelope.ts";
import type { OutputFormat } from "./output-format.ts";
import { createProgress, type Paint } from "./progress.ts";

export type HeadlessOptions = EnvelopeOptions & {
  readonly format: OutputFormat;
  readonly stdout: Pick<Writable, "write">;
  readonly stderr: Pick<Writable, "write">;
  /** How progress on stderr is coloured in text mode; absent = no progress. */
  readonly progress?: Paint;
  readonly strings: Strings["headless"];
};

/** Runs one input and prints it in the chosen format. Returns the run's last event. @throws what was a bug in it. */
export const runHeadless = async (
  session: Session,
  input: Input,
  signal: AbortSignal,
  options: HeadlessOptions,
): Promise<EngineEventBody<"run.completed">> => {
  const print = createPrinter(options);
  let end: EngineEventBody<"run.completed"> | undefined;
  // To the very end: a bug is thrown after the run's last event.
  for await (const event of session.run(input, signal)) {
    print(event);
    if (event.type === "run.completed") end = event;
  }
  if (!end) throw new Error("the session ended without run.completed");
  return end;
};

/** Prints the one final result of a run that could not start. */
export const printStartFailure = (error: RunError, options: HeadlessOptions & { readonly time: Date }): void => {
  createPrinter(options)({
    type: "run.completed",
    sessionId: "",
    seq: 1,
    time: options.time.toISOString(),
    reason: error.kind === "cancelled" ? "cancelled" : "error",
    text: "",
    turns: 0,
    contextMessages: 0,
    usage: NO_USAGE,
    costUsd: null,
    durationMs: 0,
    permissionDenials: [],
    error,
  });
};

/** The answer as it is printed, with its final newline; undefined where the run gave none. */
export const answerText = (
  { reason, text }: Pick<EngineEventBody<"run.completed">, "reason" | "text">,
  { structuredOutput }: Pick<EnvelopeOptions, "structuredOutput">,
): string | undefined => {
  if (reason !== "completed" && reason !== "blocked") return undefined;
  const answer = printableText(structuredOutput ? JSON.stringify(structuredOutput(text)) : text);
  return answer === "" || answer.endsWith("\n") ? answer : `${answer}\n`;
};

/** Prints each event of a run as far as the format tells of it. */
export const createPrinter = (options: HeadlessOptions): ((event: EngineEvent) => void) => {
  const { format, stdout } = options;
  const printLine = (value: unknown): void => void stdout.write(`${printableJson(value)}\n`);
  switch (format) {
    case "events":
      return printLine;
    case "stream-json":
    case "json": {
      const envelope = createEnvelope(options);
      return (event) => {
        for (const message of envelope(event))
          if (format === "stream-json" || message.type === "result")
            stdout.write(`${printableJson(message, { mask: maskKeyShapes })}\n`);
      };
    }
    case "text":
      return createTextPrinter(options);
    default:
      return format satisfies never;
  }
};

const createTextPrinter = (options: HeadlessOptions): ((event: EngineEvent) => void) => {
  const { stdout, stderr, progress, strings } = options;
  const progressLine = progress && createProgress(strings, progress);
  const say = (text: string): void => void stderr.write(`harness9: ${printableText(text)}\n`);
  return (event) => {
    const line = progressLine?.(event);
    if (line !== undefined) stderr.write(`${line}\n`);
    if (event.type === "notice") say(event.text);
    if (event.type !== "run.completed") return;
    const { reason, error, permissionDenials } = event;
    const answer = answerText(event, options);
    if (answer !== undefined && answer !== "") stdout.write(answer);
    if (reason === "blocked") say(strings.blocked(permissionDenials.map((denial) => denial.name).join(", ")));
    if (error) say(error.hint === undefined ? error.message : `${error.message}\n${error.hint}`);
  };
};
