import type { EngineEvent } from "../../schema/event.ts";
import type { ChatPast } from "../../session/chat.ts";
import { isPlanReminder } from "../../session/plan-reminder.ts";
import { isRewindReminder } from "../../session/rewind-reminder.ts";
import type { Strings } from "../../text/strings.ts";
import type { Glyphs } from "../glyphs.ts";
import { marked } from "../transcript/paper.ts";
import type { Scribe } from "./scribe.ts";

export type ReplayOptions = {
  readonly scribe: Scribe;
  readonly width: number;
  readonly glyphs: Glyphs;
  readonly strings: Strings["sessions"];
  /** What the context holds now; absent where nobody counts it. */
  readonly contextTokens?: number | undefined;
};

/** The calls that `!command` makes; see person-shell.ts. */
const OWN_COMMANDS = "person_";

/** Shows the end of a conversation that is taken up again, as it was seen when it happened. */
export const replay = ({ id, events, turnsBefore, totals }: ChatPast, options: ReplayOptions): void => {
  const { scribe, width, glyphs, strings, contextTokens } = options;
  scribe.say(marked(glyphs.notice, strings.goesOn(id, turnsBefore), { width, role: "accent", textRole: "dim" }));
  let last = 0;
  const show = createShower(scribe);
  for (const event of events) {
    if (event.type === "usage.updated") last = event.contextTokens;
    show(event);
  }
  scribe.settle({ ...totals, contextTokens: contextTokens ?? last });
};

/** Shows events that have been written down, in order, as they were seen when they happened. */
export const createShower = (scribe: Scribe): ((event: EngineEvent) => void) => {
  // What the model was told of a command stands there already as its step.
  let notes = 0;
  let hasDeltas = false;
  return (event) => {
    switch (event.type) {
      case "input.added": {
        const { content, source } = event;
        if (source === "person" && notes > 0) notes -= 1;
        else if (source === "person" || source === "stdin") scribe.add({ type: "person", text: content });
        else if (!isPlanReminder(content) && !isRewindReminder(content)) scribe.take(event);
        return;
      }
      case "tool.completed":
        if (event.toolCallId.startsWith(OWN_COMMANDS)) notes += 1;
        break;
      case "text.delta":
      case "thinking.delta":
        hasDeltas = true;
        break;
      case "message.completed":
        if (!hasDeltas) for (const delta of deltasOf(event)) scribe.take(delta);
        hasDeltas = false;
    }
    scribe.take(event);
  };
};

/** A journal has no deltas: what they said is in what completed them. */
const deltasOf = (event: EngineEvent<"message.completed">): readonly EngineEvent[] => {
  const { content, thinking } = event.message;
  const { sessionId, seq, time } = event;
  const place = { sessionId, seq, time };
  return [
    ...(thinking?.text ? [{ ...place, type: "thinking.delta", text: thinking.text } as const] : []),
    ...(content === "" ? [] : [{ ...place, type: "text.delta", text: content } as const]),
  ];
};
