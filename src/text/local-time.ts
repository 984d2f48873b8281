/** A moment in local time, each part with its leading zeros: `2026`, `04`, `29`, `15`, `11`, `30`. */
export const localTime = (time: Date) => ({
  year: String(time.getFullYear()).padStart(4, "0"),
  month: two(time.getMonth() + 1),
  day: two(time.getDate()),
  hour: two(time.getHours()),
  minute: two(time.getMinutes()),
  second: two(time.getSeconds()),
});

const two = (value: number): string => String(value).padStart(2, "0");
