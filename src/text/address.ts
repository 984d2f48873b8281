// By the parsed host: "http://localhost@evil.example" and "127.0.0.1.evil.example" are elsewhere.
const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/** Whether text is an http:// or https:// address. */
export const isHttpUrl = (text: string): boolean => /^https?:$/.test(parseUrl(text)?.protocol ?? "");

/** Whether an http(s) address stays on this machine. */
export const isLoopback = (text: string): boolean => isHttpUrl(text) && LOOPBACK.test(parseUrl(text)?.hostname ?? "");

/** Whether two http(s) addresses have the same scheme, host and port. */
export const sameOrigin = (a: string, b: string): boolean =>
  isHttpUrl(a) && parseUrl(a)?.origin === parseUrl(b)?.origin;

/** An address as people may see it: without a password or a query, which may hold a key. */
export const shownAddress = (text: string): string => {
  const url = parseUrl(text);
  const isPlain = url === null || url.username + url.password + url.search + url.hash === "";
  return isPlain ? text : `${url.origin}${url.pathname}`;
};

const parseUrl = (text: string): URL | null => (URL.canParse(text) ? new URL(text) : null);
