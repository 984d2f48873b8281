import type { AssistantMessage, Message } from "../schema/message.ts";
import type { ToolCall } from "../schema/tool.ts";
import { type CompactionState, createCompactions } from "./compaction-fold.ts";
import type { JournalEntry } from "./journal.ts";
import { createTurns, type Turns } from "./turns.ts";

export interface HistoryFold {
  add(entry: JournalEntry): void;
  /** The messages, system prompt first, each call answered exactly once. */
  messages(): readonly Message[];
  /** The calls that the journal ends without observations for, with the results that are there. `messages` answers them. */
  open(): readonly OpenCall[];
  /** The turns that the messages come from. */
  readonly turns: Turns;
  /** What stands for the messages in a request. */
  compactions(): CompactionState;
}

export type OpenCall = {
  readonly call: ToolCall;
  readonly result?: { readonly output: string; readonly isError: boolean };
};

export type HistoryOptions = {
  /** What the model is told of a call whose result the journal does not have. */
  readonly interrupted: (call: ToolCall) => string;
};

/** The calls of the newest answer, until their observations are in the history. */
type Batch = {
  readonly calls: readonly ToolCall[];
  readonly results: Map<string, { readonly output: string; readonly isError: boolean }>;
};

/** What a session's history was, from the entries of its journal in order. */
export const createHistory = ({ interrupted }: HistoryOptions): HistoryFold => {
  let system: Message | undefined;
  const messages: Message[] = [];
  const turns = createTurns(messages);
  // The system prompt counts.
  const compactions = createCompactions(() => messages.length + 1);
  let batch: Batch | undefined;
  let thought = "";

  const observations = ({ calls, results }: Batch, changed: ReadonlyMap<string, string>): readonly Message[] =>
    calls.map((call): Message => {
      const result = results.get(call.id) ?? { output: interrupted(call), isError: true };
      const content = changed.get(call.id) ?? result.output;
      return { role: "user", toolCallId: call.id, content, isError: result.isError };
    });

  const closeBatch = (changed: ReadonlyMap<string, string> = new Map()): void => {
    if (batch) messages.push(...observations(batch, changed));
    batch = undefined;
  };

  const addAnswer = (message: AssistantMessage, finishReason: string): void => {
    closeBatch();
    if (isThought(message)) {
      thought = message.thinking?.text ?? "";
      return;
    }
    // An answer that was cut off by a cancellation stands in the history without the thought before it.
    const isWhole = thought !== "" && finishReason !== "error";
    messages.push(isWhole ? { ...message, thinking: { kind: "two-stage", text: thought } } : message);
    thought = "";
    if (message.toolCalls.length > 0) batch = { calls: message.toolCalls, results: new Map() };
  };

  return {
    turns,
    add: (entry) => {
      if ("parentToolCallId" in entry) return;
      switch (entry.type) {
        case "system":
          system = { role: "system", content: entry.content };
          break;
        case "run.started":
        case "run.completed":
        case "rewind":
          closeBatch();
          break;
        case "turn.started":
          closeBatch();
          thought = "";
          break;
        case "input.added": {
          const { content, source, attachments } = entry;
          // While calls wait for their observations, these stand within one.
          if (batch && (source === "hook" || source === "reminder")) break;
          closeBatch();
          messages.push({ role: "user", content, ...(attachments && { attachments }) });
          break;
        }
        case "message.completed":
          addAnswer(entry.message, entry.finishReason);
          break;
        case "tool.completed":
          // A command of the person's own may come between: nobody asks for its result.
          batch?.results.set(entry.toolCallId, entry.result);
          break;
        case "observations.added":
          closeBatch(new Map(entry.changed?.map(({ toolCallId, content }) => [toolCallId, content])));
      }
      turns.add(entry);
      compactions.add(entry);
    },
    compactions: compactions.state,
    messages: () => [...(system ? [system] : []), ...messages, ...(batch ? observations(batch, new Map()) : [])],
    open: () => {
      const { calls = [], results } = batch ?? {};
      return calls.map((call): OpenCall => {
        const result = results?.get(call.id);
        return { call, ...(result && { result }) };
      });
    },
  };
};

/** The first half of a two-stage turn: it joins the answer that acts on it. */
const isThought = ({ thinking, content, toolCalls }: AssistantMessage): boolean =>
  thinking?.kind === "two-stage" && content === "" && toolCalls.length === 0;
