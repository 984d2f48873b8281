/** A duration as Go prints it, which is how the log has always shown it: `150ms`, `1.2s`, `1m0s`, `1h0m5s`. */
export const goDuration = (ms: number): string => {
  if (ms < 1000) return ms === 0 ? "0s" : `${trim(ms)}ms`;
  const seconds = ms / 1000;
  if (seconds < 60) return `${trim(seconds)}s`;
  const minutes = Math.floor(seconds / 60);
  const rest = `${trim(seconds - minutes * 60)}s`;
  return minutes < 60 ? `${minutes}m${rest}` : `${Math.floor(minutes / 60)}h${minutes % 60}m${rest}`;
};

const trim = (value: number): string => String(Math.round(value * 1000) / 1000);
