import { runBatch, type ToolRunner } from "../engine/tool-batch.ts";
import type { Shell } from "../session/session.ts";
import type { Mask } from "../text/mask.ts";
import type { Strings } from "../text/strings.ts";
import { errorResult } from "../tools/tool.ts";

// The most that a command may have: the person sees it run and can stop it.
const TIMEOUT_MS = 600_000;

export type PersonShellOptions = {
  /** Has bash, and asks nobody. */
  readonly tools: ToolRunner;
  readonly session: { readonly id: string; readonly workDir: string };
  readonly mask: Mask;
  readonly strings: Pick<Strings, "chat" | "engine">;
  readonly now: () => number;
};

/** `!command`: the model's bash for what a person has typed. The calls' ids are `person_1`, `person_2` … */
export const createPersonShell = ({ tools, session, mask, strings, now }: PersonShellOptions): Shell => {
  let commands = 0;
  return async (command, signal, emit) => {
    commands += 1;
    const args = JSON.stringify({ command, timeout_ms: TIMEOUT_MS });
    const call = { id: `person_${commands}`, name: "bash", arguments: args };
    const [result] = await runBatch([call], signal, {
      tools,
      session: { ...session, model: "" },
      maxConcurrentTools: 1,
      mask,
      emit,
      now,
      cancelled: () => errorResult(call, strings.engine.callCancelled),
    });
    return strings.chat.ranCommand(mask(command), result?.output ?? "");
  };
};
