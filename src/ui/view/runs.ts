import type { Chat } from "../../session/chat.ts";
import type { Input } from "../../session/session.ts";
import { errorMessage, errorStack } from "../../text/error-message.ts";
import type { Scribe } from "./scribe.ts";
import type { Store } from "./view-state.ts";

export type RunsOptions = {
  readonly chat: () => Chat;
  readonly store: Store;
  readonly scribe: Scribe;
  /** Puts text back into the input, before what stands there. */
  readonly restore: (text: string) => void;
};

/** What the person has set going: runs of the model one after the other, and commands of their own beside them. */
export interface Runs {
  readonly isBusy: boolean;
  /** Starts a run, or queues the text for the one that goes on. */
  submit(text: string): void;
  shell(command: string): void;
  /** The newest queued text, out of the queue again. */
  takeBack(): string | undefined;
  /** Stops model, tools and commands. Returns whether there was anything to stop. */
  interrupt(): boolean;
  /** Resolves when nothing runs any more. */
  settled(): Promise<void>;
}

export const createRuns = ({ chat, store, scribe, restore }: RunsOptions): Runs => {
  let current: AbortController | null = null;
  let going: Promise<void> = Promise.resolve();
  const shells = new Map<AbortController, Promise<void>>();

  const showQueue = (): void => {
    const queued = chat()
      .session()
      .queued()
      .map(({ content }) => content);
    store.set({ queued });
  };

  /** Whether something was told to stop and has not yet ended. */
  const showStopping = (): void => {
    const isStopping = current?.signal.aborted === true || [...shells.keys()].some(({ signal }) => signal.aborted);
    store.set({ isStopping });
  };

  const run = async (first: Input): Promise<void> => {
    let input: Input | undefined = first;
    while (input) {
      const controller = new AbortController();
      current = controller;
      showStopping();
      const session = chat().session();
      try {
        for await (const event of session.run(input, controller.signal)) {
          scribe.take(event);
          if (event.type === "input.added" && event.source === "queue") showQueue();
        }
      } catch (error) {
        // A bug, which the run's last event has told of already.
        chat().writeLog(errorStack(error));
      }
      current = null;
      input = session.takeQueued();
      showQueue();
    }
    showStopping();
    scribe.flush();
  };

  const shell = async (command: string, controller: AbortController): Promise<void> => {
    try {
      await chat().runShell(command, controller.signal, (event) => scribe.take(event));
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
    submit: (text) => {
      const input: Input = { content: text, source: "person" };
      if (current) {
        chat().session().queue(input);
        showQueue();
        return;
      }
      scribe.add({ type: "person", text });
      going = run(input);
    },
    shell: (command) => {
      scribe.add({ type: "person", text: `!${command}` });
      const controller = new AbortController();
      shells.set(controller, shell(command, controller));
    },
    takeBack: () => {
      const taken = chat().session().takeBack();
      showQueue();
      return taken?.content;
    },
    interrupt: () => {
      const running = [...(current ? [current] : []), ...shells.keys()].filter(({ signal }) => !signal.aborted);
      for (const controller of running) controller.abort();
      if (running.length === 0) return false;
      showStopping();
      // Whoever stops the work wants to look before the next order goes out.
      const queued = chat().session().takeQueued();
      showQueue();
      if (queued) restore(queued.content);
      return true;
    },
    settled: async () => {
      await Promise.all([going, ...shells.values()]);
    },
  };
};
