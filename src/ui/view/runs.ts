import type { EngineEvent } from "../../schema/event.ts";
import type { Chat } from "../../session/chat.ts";
import { isPlanReminder } from "../../session/plan-reminder.ts";
import { isRewindReminder } from "../../session/rewind-reminder.ts";
import type { Input } from "../../session/session.ts";
import { errorMessage, errorStack } from "../../text/error-message.ts";
import type { Scribe } from "./scribe.ts";
import type { Store } from "./view-state.ts";

export type RunsOptions = {
  /** Null until the machine has started. */
  readonly chat: () => Chat | null;
  readonly store: Store;
  readonly scribe: Scribe;
  /** Puts text back into the input, before what stands there. */
  readonly restore: (text: string) => void;
  /** A run has ended by itself, and nothing that the person has sent follows it. */
  readonly onEnd: (end: EngineEvent<"run.completed">) => void;
};

/** What the person has set going: runs of the model one after the other, and commands of their own beside them. */
export interface Runs {
  readonly isBusy: boolean;
  /** Starts a run, or queues the text for the one that goes on. `shown` is what the transcript has of it; null where it has it already. */
  submit(text: string, shown?: string | null): void;
  shell(command: string): void;
  /** Something else that lasts, and that the person can stop. */
  work<T>(task: (signal: AbortSignal) => Promise<T>): Promise<T>;
  /** Keeps what cannot be taken yet: before the machine has started, and while a command changes the session. */
  hold(text: string): void;
  /** All of that, the oldest first. */
  takeHeld(): readonly string[];
  /** The newest text that waits, which then does so no longer. */
  takeBack(): string | undefined;
  /** Stops model, tools and commands. Returns whether there was anything to stop. */
  interrupt(): boolean;
  /** Resolves when nothing runs any more. */
  settled(): Promise<void>;
}

export const createRuns = ({ chat, store, scribe, restore, onEnd }: RunsOptions): Runs => {
  const held: string[] = [];
  let current: AbortController | null = null;
  let going: Promise<void> = Promise.resolve();
  const shells = new Map<AbortController, Promise<void>>();

  const machine = (): Chat => {
    const opened = chat();
    if (!opened) throw new Error("the chat's machine has not started yet");
    return opened;
  };

  const showQueue = (): void => {
    const queued = chat()?.session().queued() ?? [];
    store.set({ queued: [...queued.map(({ content }) => content), ...held] });
  };

  /** Whether something was told to stop and has not yet ended. */
  const showStopping = (): void => {
    const isStopping = current?.signal.aborted === true || [...shells.keys()].some(({ signal }) => signal.aborted);
    store.set({ isStopping });
  };

  const run = async (first: Input): Promise<void> => {
    let input: Input | undefined = first;
    let end: EngineEvent<"run.completed"> | undefined;
    while (input) {
      const controller = new AbortController();
      current = controller;
      showStopping();
      const session = machine().session();
      end = undefined;
      try {
        for await (const event of session.run(input, controller.signal)) {
          if (event.type === "run.completed" && !controller.signal.aborted) end = event;
          if (!isForModel(event)) scribe.take(event);
          if (event.type === "input.added" && event.source === "queue") showQueue();
        }
      } catch (error) {
        // A bug, which the run's last event has told of already.
        machine().writeLog(errorStack(error));
      }
      current = null;
      input = session.takeQueued();
      showQueue();
    }
    showStopping();
    scribe.flush();
    if (end && held.length === 0) onEnd(end);
  };

  const shell = async (command: string, controller: AbortController): Promise<void> => {
    try {
      await machine().runShell(command, controller.signal, (event) => scribe.take(event));
    } catch (error) {
      scribe.add({ type: "notice", level: "error", text: errorMessage(error) });
    } finally {
      shells.delete(controller);
      showStopping();
    }
  };

  return {
    get isBusy() {
      return current !== null || shells.size > 0;
    },
    submit: (text, shown = text) => {
      const input: Input = { content: text, source: "person" };
      if (current) {
        machine().session().queue(input);
        showQueue();
        return;
      }
      if (shown !== null) scribe.add({ type: "person", text: shown });
      going = run(input);
    },
    shell: (command) => {
      scribe.add({ type: "person", text: `!${command}` });
      const controller = new AbortController();
      shells.set(controller, shell(command, controller));
    },
    work: async (task) => {
      const controller = new AbortController();
      const { signal } = controller;
      const done = task(signal);
      // Who called it hears of its failure.
      const settled = done.then(
        () => undefined,
        () => undefined,
      );
      shells.set(controller, settled);
      try {
        return await done;
      } finally {
        shells.delete(controller);
        showStopping();
      }
    },
    hold: (text) => {
      held.push(text);
      showQueue();
    },
    takeHeld: () => {
      const taken = held.splice(0);
      showQueue();
      return taken;
    },
    takeBack: () => {
      const taken = held.pop() ?? chat()?.session().takeBack()?.content;
      showQueue();
      return taken;
    },
    interrupt: () => {
      const running = [...(current ? [current] : []), ...shells.keys()].filter(({ signal }) => !signal.aborted);
      for (const controller of running) controller.abort();
      if (running.length === 0) return false;
      showStopping();
      // Whoever stops the work wants to look before the next order goes out.
      const queued = machine().session().takeQueued();
      const waiting = [...(queued ? [queued.content] : []), ...held.splice(0)];
      showQueue();
      if (waiting.length > 0) restore(waiting.join("\n\n"));
      return true;
    },
    settled: async () => {
      await Promise.all([going, ...shells.values()]);
    },
  };
};

/** What the model is told of the mode and of going back: the person has chosen it. */
const isForModel = (event: EngineEvent): boolean =>
  event.type === "input.added" &&
  event.source === "reminder" &&
  (isPlanReminder(event.content) || isRewindReminder(event.content));
