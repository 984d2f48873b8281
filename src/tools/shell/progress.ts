/** Passes on the newest state, not each change: the first after an interval, the last always. */
export interface Progress {
  changed(): void;
  /** No more after this. A command that never lived long enough to show anything shows its result only. */
  finish(): void;
}

// A little above a tenth of a second: ten a second must hold with the last one counted too.
const INTERVAL_MS = 112;

export const createProgress = (show: () => void): Progress => {
  let timer: NodeJS.Timeout | null = null;
  let shown = false;
  let finished = false;
  const fire = (): void => {
    timer = null;
    shown = true;
    show();
  };
  return {
    changed: () => {
      if (!finished) timer ??= setTimeout(fire, INTERVAL_MS);
    },
    finish: () => {
      finished = true;
      if (timer === null) return;
      clearTimeout(timer);
      if (shown) fire();
    },
  };
};
