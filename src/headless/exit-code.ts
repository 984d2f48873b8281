import type { EngineEventBody, ErrorKind } from "../schema/event.ts";
import { EXIT } from "../text/exit.ts";

/** The exit code that says how a run ended. A signal has its own: the caller knows which one it was. */
export const exitCode = ({ reason, error }: EngineEventBody<"run.completed">): number => {
  switch (reason) {
    case "completed":
      return EXIT.completed;
    case "max_turns":
      return EXIT.maxTurns;
    case "blocked":
      return EXIT.blocked;
    case "budget":
      return EXIT.budget;
    case "cancelled":
      return EXIT.interrupted;
    case "repeated_call":
      return EXIT.failed;
    case "error":
      return error ? errorExitCode(error.kind) : EXIT.failed;
    default:
      return reason satisfies never;
  }
};

const errorExitCode = (kind: ErrorKind): number => {
  switch (kind) {
    case "auth":
      return EXIT.auth;
    case "input":
      return EXIT.input;
    case "config":
      return EXIT.config;
    case "rate_limit":
    case "overloaded":
    case "server":
    case "network":
    case "timeout":
      return EXIT.retryLater;
    case "bad_request":
    case "context_overflow":
    case "content_filter":
    case "protocol":
    case "empty_tool_calls":
    case "cancelled":
    case "internal":
      return EXIT.failed;
    default:
      return kind satisfies never;
  }
};
