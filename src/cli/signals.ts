const SIGNALS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

/** The one place that hears the process's signals. The first one stops the run, a second one the process. */
export type Stop = {
  readonly signal: AbortSignal;
  /** The exit code that what stopped the run asks for. */
  readonly exitCode: number | undefined;
  /** Stops the run because nobody reads standard output any more. */
  readonly close: () => void;
  /** Who hears Ctrl+C before it stops anything; true = it has been dealt with. */
  readonly onInterrupt: (handler: () => boolean) => void;
  /** What to do when somebody insists, before the process ends. */
  readonly onForce: (action: () => void) => void;
  readonly dispose: () => void;
};

export const watchSignals = (): Stop => {
  const controller = new AbortController();
  let exitCode: number | undefined;
  let isSignalled = false;
  let force = (): void => undefined;
  let interrupt = (): boolean => false;
  const stop = (code: number): void => {
    exitCode ??= code;
    controller.abort();
  };
  const handlers = Object.entries(SIGNALS).map(([name, code]) => {
    const handler = (): void => {
      if (name === "SIGINT" && interrupt()) return;
      if (isSignalled) {
        force();
        process.exit(code);
      }
      isSignalled = true;
      stop(code);
    };
    process.on(name, handler);
    return { name, handler };
  });
  return {
    signal: controller.signal,
    get exitCode() {
      return exitCode;
    },
    close: () => stop(0),
    onInterrupt: (handler) => {
      interrupt = handler;
    },
    onForce: (action) => {
      force = action;
    },
    dispose: () => {
      for (const { name, handler } of handlers) process.off(name, handler);
    },
  };
};
