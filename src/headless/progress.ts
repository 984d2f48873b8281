import type { EngineEvent } from "../schema/event.ts";
import { stripControls, visibleControls } from "../text/clean.ts";
import { goDuration } from "../text/duration.ts";
import { maskKeyShapes } from "../text/mask.ts";
import type { Strings } from "../text/strings.ts";

const MAX_LINE = 160;

/** One line of progress for a person who waits at the terminal; undefined for events that are no news. */
export const createProgress = (strings: Strings["headless"]): ((event: EngineEvent) => string | undefined) => {
  const displays = new Map<string, string>();
  return (event) => {
    switch (event.type) {
      case "tool.started":
        displays.set(event.call.id, event.display);
        return line(`… ${event.display}`);
      case "tool.completed": {
        const display = displays.get(event.toolCallId) ?? event.name;
        displays.delete(event.toolCallId);
        return line(`${event.result.isError ? "✗" : "✓"} ${display} — ${goDuration(event.durationMs)}`);
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
  return flat.length > MAX_LINE ? `${flat.slice(0, MAX_LINE)}…` : flat;
};
