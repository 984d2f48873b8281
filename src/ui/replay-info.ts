import type { EngineEvent } from "../schema/event.ts";
import type { ChatInfo } from "../session/chat.ts";
import type { Strings } from "../text/strings.ts";
import type { Glyphs } from "./glyphs.ts";
import { type Line, span } from "./line.ts";
import { marked } from "./transcript/paper.ts";

/** What a recording is, beside its events. Others' text. */
export type ReplayTitle = {
  readonly name: string;
  /** ISO 8601, UTC. */
  readonly createdAt: string;
  /** The version of the program that recorded it. */
  readonly harness9: string;
};

/** What the status line shows of the machine that a run was recorded on. */
export const replayInfo = (before: ChatInfo | null, event: EngineEvent, strings: Strings): ChatInfo | null => {
  if (event.parentToolCallId !== undefined) return before;
  if (event.type === "usage.updated") return before && { ...before, contextWindow: event.contextWindow };
  if (event.type !== "run.started") return before;
  const { workDir, provider, model, permissionMode: mode, thinking, sessionId } = event;
  const isOffline = provider === "offline";
  return {
    version: "",
    workDir,
    homeDir: "",
    provider,
    model: isOffline ? strings.offline.label : `${provider}/${model}`,
    isOffline,
    keyVariables: [],
    contextWindow: before?.contextWindow ?? null,
    prices: null,
    mode,
    modes: [mode],
    thinking,
    logFile: null,
    sessionId,
    isKept: false,
    notes: [],
    warnings: [],
  };
};

/** What stands above a replay: what it is, and that nothing happens. */
export const replayHeader = (
  { name, createdAt, harness9 }: ReplayTitle,
  { width, glyphs, strings }: { readonly width: number; readonly glyphs: Glyphs; readonly strings: Strings["replay"] },
): readonly Line[] => {
  const about = `${strings.title(name)}\n${strings.recordedAt(createdAt, harness9)}\n${strings.nothingRuns}`;
  return marked(glyphs.notice, about, { width, role: "accent" });
};

/** The row where the chat has its input: how fast it goes, and the keys. */
export const replayRow = (
  { pace, isPaused }: { readonly pace: number | "max"; readonly isPaused: boolean },
  glyphs: Glyphs,
  strings: Strings["replay"],
): Line => {
  const speed = pace === "max" ? strings.fastest : strings.speed(String(pace));
  return [
    span(`${glyphs.person} `, "accent"),
    span(isPaused ? `${strings.paused} ${glyphs.dot} ${speed}` : speed, isPaused ? "warning" : "accent"),
    span(`   ${strings.keys.join("   ")}`, "dim"),
  ];
};

/** Says where another session begins, as after `/clear`. */
export const createSessionNote = (strings: Strings["replay"]): ((event: EngineEvent) => string | undefined) => {
  let sessionId: string | undefined;
  return (event) => {
    if (event.parentToolCallId !== undefined || event.sessionId === sessionId) return undefined;
    const isFirst = sessionId === undefined;
    ({ sessionId } = event);
    return isFirst ? undefined : strings.newSession(event.sessionId);
  };
};
