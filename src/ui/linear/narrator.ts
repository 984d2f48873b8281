import type { EngineEvent } from "../../schema/event.ts";
import { stripControls } from "../../text/clean.ts";
import type { Strings } from "../../text/strings.ts";
import { formatDuration } from "../duration.ts";
import { formatTokens } from "../figures.ts";
import type { Glyphs } from "../glyphs.ts";
import { type Line, span } from "../line.ts";
import { createMarkdown, type Markdown } from "../markdown/stream-markdown.ts";
import { fullThought, marked } from "../transcript/paper.ts";
import {
  type Block,
  NEW_TRANSCRIPT,
  reduce,
  type SessionUsage,
  settled,
  type Transcript,
} from "../transcript/transcript.ts";
import { createRecordTables, type RecordTables } from "./record-tables.ts";
import { endedLines, startedSentence } from "./step-sentences.ts";

export type NarratorOptions = {
  readonly width: () => number;
  readonly glyphs: Glyphs;
  readonly strings: Strings;
  readonly showsThinking: () => boolean;
};

/** Tells what happens, once and in order: a sentence where a step begins and ends, a paragraph when it is complete. */
export interface Narrator {
  readonly transcript: Transcript;
  /** The lines that the event finishes. */
  take(event: EngineEvent): readonly Line[];
  tell(block: Block): readonly Line[];
  restart(): void;
  settle(total: SessionUsage): void;
}

/** No paragraph is told in parts because it is long; whoever prints the lines breaks them. */
const WHOLE_PARAGRAPH = 10_000;
const QUOTE = ">";
const INDENT = span("  ");

export const createNarrator = (options: NarratorOptions): Narrator => {
  const { glyphs, strings, showsThinking } = options;
  const { words } = strings.linear;
  let transcript = NEW_TRANSCRIPT;
  let text: { readonly markdown: Markdown; readonly tables: RecordTables; hasBegun: boolean } | null = null;
  const refused = new Set<string>();

  const lineOptions = () => ({ width: options.width(), glyphs, strings });
  const said = (word: string, content: string): readonly Line[] =>
    marked(word, content, { width: options.width(), role: "accent" });

  const started = (id: string, { steps }: Transcript): readonly Line[] => {
    const step = steps.find((one) => one.id === id);
    return step ? [startedSentence(step, lineOptions())] : [];
  };

  /** What the event says beside the blocks that it finishes. */
  const sentence = (event: EngineEvent, after: Transcript): readonly Line[] => {
    switch (event.type) {
      case "tool.started":
        // Outside of a turn it is a command of the person's own, about which nobody is asked.
        return event.turn === undefined ? started(event.call.id, after) : [];
      case "permission.resolved":
        if (event.decision === "allow") return started(event.toolCallId, after);
        refused.add(event.toolCallId);
        return [];
      case "provider.retrying": {
        const { error, attempt, maxAttempts, delayMs } = event;
        const seconds = Math.ceil(delayMs / 1000);
        return said(words.note, strings.linear.retrying(stripControls(error.message), attempt, maxAttempts, seconds));
      }
      default:
        return [];
    }
  };

  const ended = (event: EngineEvent<"tool.completed">, before: Transcript): readonly Line[] => {
    const step = transcript.recent.at(-1);
    if (!step) return [];
    const isRefused = refused.delete(event.toolCallId);
    const isOneOfSeveral = before.steps.filter(({ name }) => name === step.name).length > 1;
    return endedLines(step, { ...lineOptions(), isOneOfSeveral, isRefused });
  };

  const prefixed = (lines: readonly Line[], open: { hasBegun: boolean }): readonly Line[] =>
    lines.map((line) => {
      if (open.hasBegun) return line.length === 0 ? line : [INDENT, ...line];
      open.hasBegun = true;
      return [span(`${words.model} `), ...line];
    });

  const addText = (delta: string): readonly Line[] => {
    text ??= {
      markdown: createMarkdown({ width: WHOLE_PARAGRAPH, glyphs: { ...glyphs, output: QUOTE } }),
      tables: createRecordTables(),
      hasBegun: false,
    };
    return prefixed(text.markdown.push(text.tables.push(delta)), text);
  };

  const endText = (isDiscarded: boolean): readonly Line[] => {
    if (!text) return [];
    const ending = text;
    text = null;
    if (isDiscarded) return ending.hasBegun ? said(words.note, strings.transcript.discarded) : [];
    const lines = ending.markdown.push(ending.tables.end());
    return prefixed([...lines, ...ending.markdown.end()], ending);
  };

  const tell = (block: Block): readonly Line[] => {
    switch (block.type) {
      case "person":
        return said(words.person, block.text);
      case "text":
        return addText(block.delta);
      case "text.end":
        return endText(block.isDiscarded);
      case "thought": {
        const head: Line = [span(strings.linear.thought(formatDuration(block.durationMs)))];
        return showsThinking() ? [head, ...fullThought(block.text, options.width())] : [head];
      }
      case "step":
        return [];
      case "notice":
        return said(block.level === "info" ? words.note : words[block.level], block.text);
      case "compacted": {
        const [from, to] = [formatTokens(block.before), formatTokens(block.after)];
        const { compacted, restored } = strings.compaction;
        return said(words.note, block.after > block.before ? restored(from, to) : compacted(from, to));
      }
      case "end":
        return endLines(block);
      default:
        return block satisfies never;
    }
  };

  const endLines = ({ reason, error, durationMs, denials }: Extract<Block, { type: "end" }>): readonly Line[] => {
    switch (reason) {
      case "completed":
        return [];
      case "cancelled":
        return said(words.note, strings.transcript.interrupted(formatDuration(durationMs)));
      case "blocked":
        return said(words.error, strings.transcript.blocked([...new Set(denials)].join(", ")));
      case "max_turns":
      case "budget":
      case "repeated_call":
      case "error":
        return said(
          words.error,
          [error?.message ?? reason, ...(error?.hint === undefined ? [] : [error.hint])].join("\n"),
        );
      default:
        return reason satisfies never;
    }
  };

  return {
    get transcript() {
      return transcript;
    },
    take: (event) => {
      const before = transcript;
      const change = reduce(before, event);
      transcript = change.transcript;
      const lines = change.blocks.flatMap(tell);
      const ends = event.type === "tool.completed" ? ended(event, before) : [];
      return [...lines, ...ends, ...sentence(event, transcript)];
    },
    tell,
    restart: () => {
      transcript = NEW_TRANSCRIPT;
    },
    settle: (total) => {
      transcript = settled(transcript, total);
    },
  };
};
