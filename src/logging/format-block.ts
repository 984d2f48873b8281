import type { EngineEvent } from "../schema/event.ts";
import { visibleControls } from "../text/clean.ts";
import { goDuration } from "../text/duration.ts";
import { localTime } from "../text/local-time.ts";
import { maskKeyShapes } from "../text/mask.ts";
import { printableText } from "../text/printable-text.ts";
import { byteLength, headBytes } from "../text/utf8.ts";
import { formatJson } from "./json-text.ts";

/** The block log's figures; see the section on the log in docs/architecture.md. */
export type BlockOptions = {
  /** Bytes of one tool output that the log keeps. The cut never alters what the model gets. */
  readonly maxOutputBytes: number;
  /** Spaces before each line that continues a block. */
  readonly indent: number;
  /** Compact arguments of at most so many bytes stand in one line. */
  readonly inlineArguments: number;
};

const JSON_INDENT = 2;

/**
 * One event as a block of the log, without a final newline; undefined for events that the log leaves out.
 * The labels are a file format: they are the same in every language.
 */
export const formatBlock = (event: EngineEvent, options: BlockOptions): string | undefined => {
  const lines = blockLines(event, options);
  if (!lines) return undefined;
  const [head = "", ...rest] = lines;
  const turn = event.turn === undefined ? "" : `Turn ${event.turn} │ `;
  return [`${stamp(new Date(event.time))} [engine] ${turn}${oneLine(head)}`, ...rest].join("\n");
};

const blockLines = (event: EngineEvent, options: BlockOptions): readonly string[] | undefined => {
  const pad = " ".repeat(options.indent);
  switch (event.type) {
    case "run.started": {
      const { workDir, thinking, maxTurns, toolTimeoutMs, maxConcurrentTools, provider, model, permissionMode } = event;
      const limits = `maxTurns=${maxTurns} toolTimeout=${goDuration(toolTimeoutMs)} maxConcurrent=${maxConcurrentTools}`;
      return [
        `启动 │ workdir=${workDir} thinking=${thinking} ${limits} model=${provider}/${model} mode=${permissionMode}`,
      ];
    }
    case "turn.started":
      return [`contextMessages=${event.contextMessages}`];
    case "phase.started":
      return [event.phase === "thinking" ? "Phase 1: Thinking (tools=none)" : `Phase 2: Action (tools=${event.tools})`];
    case "message.completed": {
      const { thinking } = event.message;
      return thinking?.kind === "two-stage"
        ? [`Phase 1 完成 │ 思考长度=${[...thinking.text].length} chars`]
        : undefined;
    }
    case "tool.started":
      return [
        `工具启动 │ tool=${event.call.name} id=${event.call.id}`,
        ...argumentLines(event.call.arguments, pad, options),
      ];
    case "tool.completed":
      return resultLines(event, pad, options);
    case "observations.added":
      return [`Observation 注入完成 │ count=${event.count} contextMessages=${event.contextMessages}`];
    case "permission.resolved": {
      // A call that its mode lets run is no news.
      if (event.decision === "allow" && event.by === "mode") return undefined;
      const rule = event.rule === undefined ? "" : ` rule=${event.rule}`;
      return [`权限 │ tool=${event.name} id=${event.toolCallId} decision=${event.decision} by=${event.by}${rule}`];
    }
    case "provider.retrying": {
      const { attempt, maxAttempts, delayMs, error } = event;
      return [
        `重试 │ attempt=${attempt}/${maxAttempts} delay=${goDuration(delayMs)} kind=${error.kind} ${error.message}`,
      ];
    }
    case "context.compacted":
      return [
        `上下文已压缩 │ tokens=${event.before.tokens}→${event.after.tokens} messages=${event.before.messages}→${event.after.messages}`,
      ];
    case "notice":
      return [`通知 │ level=${event.level} ${event.text}`];
    case "run.completed": {
      const { turns, contextMessages, reason, durationMs, error } = event;
      const ending = `循环结束 │ 总Turns=${turns} contextMessages=${contextMessages} reason=${reason} total=${goDuration(durationMs)}`;
      return [error ? `${ending} error=${error.kind}: ${error.message}` : ending];
    }
    case "input.added":
    case "thinking.delta":
    case "text.delta":
    case "tool.progress":
    case "permission.requested":
    case "usage.updated":
      return undefined;
    default:
      return event satisfies never;
  }
};

const argumentLines = (text: string, pad: string, { inlineArguments }: BlockOptions): readonly string[] => {
  const raw = maskKeyShapes(text.trim() === "" ? "{}" : text);
  if (!isJson(raw)) return [`${pad}arguments: ${oneLine(raw)}`];
  const compact = formatJson(raw, 0);
  if (byteLength(compact) <= inlineArguments) return [`${pad}arguments: ${visibleControls(compact)}`];
  const pretty = formatJson(raw, JSON_INDENT).split("\n");
  return [`${pad}arguments:`, ...pretty.map((line) => `${pad}  ${visibleControls(line)}`)];
};

const resultLines = (
  { toolCallId, name, result }: EngineEvent<"tool.completed">,
  pad: string,
  { maxOutputBytes }: BlockOptions,
): readonly string[] => {
  const bytes = byteLength(result.output);
  const text = printableText(result.output).replace(/\n+$/, "");
  const shown = headBytes(text, maxOutputBytes);
  const cut = shown.length < text.length ? ` (truncated to ${maxOutputBytes})` : "";
  const [label, status] = result.isError ? ["工具失败", "error"] : ["工具完成", "ok"];
  const output = text === "" ? ["<empty>"] : shown.split("\n");
  return [
    `${label} │ tool=${name} id=${toolCallId} status=${status} bytes=${bytes}${cut}`,
    `${pad}output:`,
    ...output.map((line) => `${pad}│ ${line}`),
  ];
};

const oneLine = (text: string): string => visibleControls(maskKeyShapes(text));

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    // Printed as it is.
    return false;
  }
};

/** Local time, as Go's log package writes it. */
const stamp = (time: Date): string => {
  const { year, month, day, hour, minute, second } = localTime(time);
  return `${year}/${month}/${day} ${hour}:${minute}:${second}`;
};
