import type { Engine } from "../engine/engine.ts";
import type { Emit, EngineEvent, EngineEventBody } from "../schema/event.ts";
import type { Compaction } from "./compaction.ts";
import type { Compacted, CompactOptions, ContextKeeper, ContextState } from "./context-keeper.ts";

type OnEvent = (event: EngineEvent) => void;

/** What a person may see and change of what the model is sent. All but `state` and `compaction` only between runs. */
export interface SessionContext {
  state(): ContextState;
  /** The compaction that holds. */
  compaction(): Compaction | undefined;
  /** Events go to the sinks and to `onEvent`. */
  compact(options: CompactOptions, signal: AbortSignal, onEvent: OnEvent): Promise<Compacted>;
  /** Takes the newest compaction back; the next one waits until the window is full. False where there is none. */
  undo(onEvent: OnEvent): boolean;
  /** Another text for the summary. False where there is none. */
  rewrite(summary: string, onEvent: OnEvent): boolean;
}

export type SessionContextOptions = {
  readonly keeper: ContextKeeper;
  readonly engine: () => Engine;
  readonly publish: (body: EngineEventBody) => EngineEvent;
  /** Keeps runs and the history away until what it returns is called. @throws where a run goes on */
  readonly hold: () => () => void;
};

export const createSessionContext = ({ keeper, engine, publish, hold }: SessionContextOptions): SessionContext => {
  const telling =
    (onEvent: OnEvent): Emit =>
    (body) =>
      onEvent(publish(body));
  const held = <T>(change: () => T): T => {
    const release = hold();
    try {
      return change();
    } finally {
      release();
    }
  };
  return {
    state: () => keeper.state(engine().next),
    compaction: () => keeper.current,
    compact: async (options, signal, onEvent) => {
      const release = hold();
      try {
        return await keeper.compact(options, engine().beside(signal, telling(onEvent)));
      } finally {
        release();
      }
    },
    undo: (onEvent) => held(() => keeper.undo(telling(onEvent))),
    rewrite: (summary, onEvent) => held(() => keeper.rewriteSummary(summary, telling(onEvent))),
  };
};
