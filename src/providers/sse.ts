/** One server-sent event. `name` is its `event:` field, if it had one. */
export type SseEvent = { readonly data: string; readonly name: string | undefined };

export type SseReader = {
  /** The events that `bytes` complete. */
  readonly feed: (bytes: Uint8Array) => readonly SseEvent[];
  /** What was left unfinished when the stream ended: servers forget the last blank line. */
  readonly end: () => readonly SseEvent[];
};

/**
 * A reader of server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html) for bytes cut anywhere:
 * one decoder for the whole body, a byte order mark, LF, CR and CRLF, comments, data of several lines.
 * The events of one read come together, so that a fast stream costs no await per token.
 */
export const createSseReader = (): SseReader => {
  const decoder = new TextDecoder();
  let unread = "";
  let endedWithCr = false;
  let data: string | undefined;
  let name: string | undefined;

  const takeLine = (line: string, events: SseEvent[]): void => {
    if (line === "") {
      if (data) events.push({ data, name });
      data = undefined;
      name = undefined;
      return;
    }
    const colon = line.indexOf(":");
    if (colon === 0) return;
    const field = colon < 0 ? line : line.slice(0, colon);
    if (field !== "data" && field !== "event") return;
    const value = colon < 0 ? "" : line.slice(line.charCodeAt(colon + 1) === 0x20 ? colon + 2 : colon + 1);
    if (field === "event") name = value;
    else data = data === undefined ? value : `${data}\n${value}`;
  };

  const take = (decoded: string): readonly SseEvent[] => {
    // The LF of a CRLF that was cut in the middle ends no second line.
    const text = normaliseLines(endedWithCr && decoded.startsWith("\n") ? decoded.slice(1) : decoded);
    if (decoded !== "") endedWithCr = decoded.endsWith("\r");
    // A long line in many reads must not be searched from its start each time.
    if (!text.includes("\n")) {
      unread += text;
      return [];
    }
    const events: SseEvent[] = [];
    const all = unread + text;
    let start = 0;
    for (let end = all.indexOf("\n"); end >= 0; end = all.indexOf("\n", start)) {
      takeLine(all.slice(start, end), events);
      start = end + 1;
    }
    unread = all.slice(start);
    return events;
  };

  return {
    feed: (bytes) => take(decoder.decode(bytes, { stream: true })),
    end: () => take(`${decoder.decode()}\n\n`),
  };
};

const normaliseLines = (text: string): string => (text.includes("\r") ? text.replace(/\r\n?/g, "\n") : text);
