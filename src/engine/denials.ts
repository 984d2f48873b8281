import type { EngineEventBody, PermissionDenial, PermissionMode } from "../schema/event.ts";
import type { ToolResult } from "../schema/tool.ts";

/** The calls of a run that were refused. */
export type Denials = {
  /** Hears of each decision. */
  note(event: EngineEventBody<"permission.resolved">): void;
  /** Hears of each result, in the order of the calls. */
  settle(result: ToolResult): void;
  /** Whether a call was refused for want of a person or by the guard, and none has succeeded since. */
  isBlocked(): boolean;
  list(): readonly PermissionDenial[];
};

/** In plan mode nobody was missed: what it refuses is not to be done yet. */
export const createDenials = (mode: () => PermissionMode): Denials => {
  const denials = new Map<string, PermissionDenial & { readonly blocks: boolean }>();
  let blocked = false;
  return {
    note: ({ toolCallId, name, decision, by, rule }) => {
      if (decision === "allow") return;
      const blocks = (by === "mode" || by === "guard") && mode() !== "plan";
      denials.set(toolCallId, { toolCallId, name, reason: rule ?? by, blocks });
    },
    settle: ({ toolCallId, output, isError }) => {
      const denial = denials.get(toolCallId);
      if (denial) {
        denials.set(toolCallId, { ...denial, reason: output });
        blocked ||= denial.blocks;
      } else if (!isError) blocked = false;
    },
    isBlocked: () => blocked,
    list: () => [...denials.values()].map(({ toolCallId, name, reason }) => ({ toolCallId, name, reason })),
  };
};
