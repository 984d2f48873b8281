import type { EngineEvent } from "../schema/event.ts";
import { stripControls, visibleControls } from "../text/clean.ts";
import { goDuration } from "../text/duration.ts";
import { maskKeyShapes } from "../text/mask.ts";
import type { Strings } from "../text/strings.ts";

const MAX_LINE = 160;

/** How progress is coloured; each returns its text, coloured or not. */
export type Paint = Readonly<Record<"success" | "failure" | "dim", (text: string) => string>>;

/** One line of progress for a person who waits at the terminal; undefined for events that are no news. */
export const createProgress = (
  strings: Strings["headless"],
  paint: Paint,
): ((event: EngineEvent) => string | undefined) => {
  const displays = new Map<string, string>();
  return (event) => {
    switch (event.type) {
      case "tool.started":
        displays.set(event.call.id, event.display);
        return paint.dim(line(`… ${event.display}`));
      case "tool.completed": {
        const display = displays.get(event.toolCallId) ?? event.name;
        displays.delete(event.toolCallId);
        const { isError } = event.result;
        const mark = isError ? paint.failure("✗") : paint.success("✓");
        const said = `${mark} ${line(`${display} — ${goDuration(event.durationMs)}`)}`;
        const [reason = ""] = isError ? event.result.output.trim().split("\n", 1) : [];
        return reason === "" ? said : `${said}: ${line(reason)}`;
      }
      case "message.completed":
        return event.message.toolCalls.length > 0 && event.message.content !== ""
          ? line(`● ${stripControls(event.message.content).trim()}`)
          : undefined;
      case "provider.retrying":
        return line(strings.retrying(event.attempt, event.maxAttempts, goDuration(event.delayMs), event.error.message));
      default:
        return undefined;
    }
  };
};

const line = (text: string): string => {
  const flat = visibleControls(maskKeyShapes(text).replace(/\s+/g, " "));
  // The cut may fall into a character of two code units.
  return flat.length > MAX_LINE ? `${flat.slice(0, MAX_LINE).replace(/[\ud800-\udbff]$/, "")}…` : flat;
};
