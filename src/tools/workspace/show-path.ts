import { visibleControls } from "../../text/clean.ts";

const MAX_SHOWN = 400;

/** A path as a message may show it: hidden characters escaped, the middle of a very long one left out. */
export const showPath = (path: string): string =>
  visibleControls(path.length > MAX_SHOWN ? `${path.slice(0, MAX_SHOWN / 2)}…${path.slice(-MAX_SHOWN / 2)}` : path);

/** A word for a POSIX shell that stands for exactly `text`. */
export const shellQuote = (text: string): string =>
  /^[\w./@%+=:,][\w./@%+=:,-]*$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
