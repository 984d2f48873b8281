import { localTime } from "../text/local-time.ts";

/** `2026-04-29 15:11` in local time; what is no date stays as it is. */
export const localMinute = (iso: string): string => localSecond(iso).slice(0, 16);

/** `2026-04-29 15:11:30` in local time; what is no date stays as it is. */
export const localSecond = (iso: string): string => {
  const time = new Date(iso);
  if (Number.isNaN(time.getTime())) return iso.slice(0, 19);
  const { year, month, day, hour, minute, second } = localTime(time);
  return `${year}-${month}-${day} ${hour}:${minute}:${second}`;
};
