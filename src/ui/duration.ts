/** A duration for people: `3 ms`, `2.1 s`, `1 m 05 s`, `1 h 05 m`. */
export const formatDuration = (ms: number): string => {
  const whole = Math.max(0, Math.round(ms));
  if (whole < 1000) return `${whole} ms`;
  const tenths = Math.round(whole / 100);
  if (tenths < 600) return `${(tenths / 10).toFixed(1)} s`;
  const seconds = Math.round(whole / 1000);
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? `${minutes} m ${two(seconds % 60)} s` : `${Math.floor(minutes / 60)} h ${two(minutes % 60)} m`;
};

const two = (value: number): string => String(value).padStart(2, "0");
