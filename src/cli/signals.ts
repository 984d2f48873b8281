const SIGNALS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

type SignalName = keyof typeof SIGNALS;

/** The one place that hears the process's signals. The first one stops the run, a second one the process. */
export type Stop = {
  readonly signal: AbortSignal;
  readonly cause: SignalName | "closed" | undefined;
  /** The exit code that the signal asks for. */
  readonly exitCode: number | undefined;
  readonly abort: (cause: "closed") => void;
  /** What to do when somebody insists, before the process ends. */
  readonly onForce: (action: () => void) => void;
  readonly dispose: () => void;
};

export const watchSignals = (): Stop => {
  const controller = new AbortController();
  let cause: Stop["cause"];
  let force = (): void => undefined;
  const stop = (by: NonNullable<Stop["cause"]>): void => {
    cause ??= by;
    controller.abort();
  };
  const handlers = Object.entries(SIGNALS).map(([name, code]) => {
    const handler = (): void => {
      if (cause !== undefined && cause !== "closed") {
        force();
        process.exit(code);
      }
      stop(name as SignalName);
    };
    process.on(name, handler);
    return { name, handler };
  });
  return {
    signal: controller.signal,
    get cause() {
      return cause;
    },
    get exitCode() {
      return cause === undefined || cause === "closed" ? undefined : SIGNALS[cause];
    },
    abort: stop,
    onForce: (action) => {
      force = action;
    },
    dispose: () => {
      for (const { name, handler } of handlers) process.off(name, handler);
    },
  };
};
