import type { ErrorKind } from "../schema/event.ts";
import { shownAddress } from "../text/address.ts";
import { stripControls } from "../text/clean.ts";
import { createMask, maskKeyShapes } from "../text/mask.ts";
import {
  AUTH,
  BAD_REQUEST,
  byStatus,
  CONTEXT_OVERFLOW,
  GENERAL,
  MESSAGE_TELLS,
  NETWORK,
  OVERLOADED,
  QUOTA,
  RATE_LIMIT,
  SERVER,
  SPECIFIC,
  TIMEOUT,
  type Verdict,
  verdict,
} from "./error-codes.ts";
import type { ModelOptions } from "./model-options.ts";
import { ProviderError, type ProviderErrorOptions } from "./provider.ts";
import { isObject, type JsonObject, parseJson, textAt } from "./wire.ts";

/** What a message about a failure names, and the key that it must not. */
export type ErrorContext = Pick<ModelOptions, "name" | "model" | "apiKey" | "keyVariable" | "baseUrl" | "strings"> & {
  readonly now?: () => number;
};

/** An HTTP answer that says no. Its message holds none of the server's words: the SDKs match on those. */
export class HttpFailure extends Error {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly body: string;

  constructor(status: number, headers: HttpFailure["headers"], body: string) {
    super(`HTTP ${status}`);
    this.status = status;
    this.headers = headers;
    this.body = body;
  }
}

/** An HTTP failure, a transport's or node's error, as what people and the engine need to know. A ProviderError stays as it is. */
export const classifyError = (error: unknown, context: ErrorContext): ProviderError => {
  if (error instanceof ProviderError) return error;
  if (error instanceof HttpFailure) return classifyAnswer(error, context);
  return classifyConnection(error, context);
};

/** An error object that came in a stream or in a body under HTTP 200. `isWholeBody`: nothing else came. */
export const classifyErrorBody = (body: unknown, context: ErrorContext, isWholeBody: boolean): ProviderError => {
  const details = readDetails(body);
  const found =
    details.tags.map((tag) => SPECIFIC[tag]).find(Boolean) ??
    (details.status === undefined ? undefined : refine(byStatus(details.status), details)) ??
    details.tags.map((tag) => GENERAL[tag]).find(Boolean);
  const refined = refine(found ?? BAD_REQUEST, details);
  // Without a code: a body that is only an error is how servers answer a wrong path; in a stream something broke.
  const isOpen = found === undefined && refined === BAD_REQUEST && !isWholeBody;
  return create(isOpen ? SERVER : refined, details.message, context, {
    ...(details.status !== undefined && { status: details.status }),
  });
};

/** Whether the server's refusal names `parameter`, so that the request may be sent again without it. */
export const refusesParameter = (error: unknown, parameter: string): boolean => {
  if (!(error instanceof HttpFailure) || (error.status !== 400 && error.status !== 422)) return false;
  // Few servers fill `param`; a wire name is an identifier, and in the words it means that parameter too.
  return new RegExp(`(?<![a-z_])${parameter}(?![a-z_])`).test(error.body);
};

const classifyAnswer = (failure: HttpFailure, context: ErrorContext): ProviderError => {
  const isPage = failure.body.trimStart().startsWith("<");
  const body = parseJson(failure.body);
  const details = readDetails(body ?? {});
  const specific = details.tags.map((tag) => SPECIFIC[tag]).find(Boolean);
  // A 5xx stays one that may pass, whatever the body calls it.
  const found = (failure.status < 500 ? specific : undefined) ?? byStatus(failure.status);
  const said = details.message || (isPage ? context.strings.htmlAnswer : body === undefined ? failure.body : "");
  const isRefusedRedirect = failure.status >= 300 && failure.status < 400;
  return create(refine(found, details), isRefusedRedirect ? `→ ${failure.headers.get("location")}` : said, context, {
    status: failure.status,
    ...(details.retryDelayMs !== undefined && { retryAfterMs: details.retryDelayMs }),
    ...retryAfter(failure, context.now?.() ?? Date.now()),
    ...(failure.headers.get("x-should-retry") === "false" && { retryable: false }),
    ...((isPage && failure.status < 500) || isRefusedRedirect ? { hint: baseUrlHint(context) } : {}),
  });
};

const refine = (found: Verdict, details: Details): Verdict =>
  found === BAD_REQUEST
    ? (MESSAGE_TELLS.find(({ pattern }) => pattern.test(details.message))?.verdict ?? found)
    : found;

type Details = {
  readonly message: string;
  readonly tags: readonly string[];
  readonly status: number | undefined;
  readonly retryDelayMs: number | undefined;
};

const NO_DETAILS: Details = { message: "", tags: [], status: undefined, retryDelayMs: undefined };

/** The shapes that servers give: {error: {message, type, code}}, {error: "…"}, {message}, {detail}, [{error: …}]. */
const readDetails = (body: unknown): Details => {
  const outer = Array.isArray(body) ? (body[0] as unknown) : body;
  if (!isObject(outer)) return typeof outer === "string" ? { ...NO_DETAILS, message: outer } : NO_DETAILS;
  const inner: JsonObject = isObject(outer["error"]) ? outer["error"] : outer;
  const details = isObject(inner["details"]) ? inner["details"] : {};
  const candidates = [inner["code"], inner["type"], inner["status"], details["error_code"]];
  const status = candidates.map(Number).find((value) => Number.isInteger(value) && value >= 400 && value < 600);
  const message =
    textAt(inner, "message") || textAt(outer, "error") || textAt(outer, "message") || detail(outer["detail"]);
  // What the vendor behind a router said.
  const raw = textAt(inner["metadata"], "raw");
  return {
    message: [message, raw].filter((words) => words !== "").join(": "),
    tags: candidates.filter((value) => typeof value === "string").map((value) => value.toLowerCase()),
    status,
    retryDelayMs: retryDelay(inner["details"]),
  };
};

/** Google's `{"@type": "…RetryInfo", retryDelay: "34.5s"}`, which stands in for the header. */
const retryDelay = (details: unknown): number | undefined => {
  if (!Array.isArray(details)) return undefined;
  const [, seconds] = details.map((one) => /^(\d+(?:\.\d+)?)s$/.exec(textAt(one, "retryDelay"))).find(Boolean) ?? [];
  return seconds === undefined ? undefined : Number(seconds) * 1000;
};

const detail = (value: unknown): string =>
  typeof value === "string" ? value : value === undefined ? "" : JSON.stringify(value);

const CERTIFICATE = /^(?:CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_TLS_CERT)/;
const WRONG_PROTOCOL = /^(?:EPROTO$|ERR_SSL_|HPE_)/;
const WRONG_SETTING: readonly unknown[] = [
  "ERR_INVALID_URL",
  "ERR_PROXY_ADDRESS",
  "ERR_INVALID_CHAR",
  "ERR_UNESCAPED_CHARACTERS",
];
const TIMED_OUT: readonly unknown[] = ["ETIMEDOUT", "ESOCKETTIMEDOUT", "UND_ERR_CONNECT_TIMEOUT", "ERR_PROXY_TIMEOUT"];

const classifyConnection = (error: unknown, context: ErrorContext): ProviderError => {
  const found = findCode(error);
  // Without a code it is no failure of the connection but a bug: it must not look like one, nor be retried.
  if (!found) return create(verdict("internal", false), String(error), context, { cause: error });
  const { code, message } = found;
  const origin = context.baseUrl && URL.canParse(context.baseUrl) ? new URL(context.baseUrl).origin : context.name;
  const { strings } = context;
  const unreachable = strings.unreachable(origin, code);
  if (CERTIFICATE.test(code))
    return create(verdict("network", false), unreachable, context, { cause: error, hint: strings.hintCertificate });
  if (WRONG_PROTOCOL.test(code))
    return create(verdict("protocol", false), unreachable, context, { cause: error, hint: baseUrlHint(context) });
  if (WRONG_SETTING.includes(code))
    return create(verdict("config", false), message, context, { cause: error, hint: baseUrlHint(context) });
  if (code === "ERR_REDIRECT_REFUSED")
    return create(BAD_REQUEST, message, context, { cause: error, hint: baseUrlHint(context) });
  const words = code.startsWith("ERR_PROXY") ? message : unreachable;
  return create(TIMED_OUT.includes(code) ? TIMEOUT : NETWORK, words, context, {
    cause: error,
    hint: strings.hintNetwork,
  });
};

/** The innermost code of node's errors: the outer ones only wrap it. */
const findCode = (error: unknown): { readonly code: string; readonly message: string } | undefined => {
  if (!(error instanceof Error)) return undefined;
  const inner = findCode(error.cause);
  if (inner) return inner;
  const code = "code" in error && typeof error.code === "string" ? error.code : undefined;
  return code === undefined ? undefined : { code, message: error.message };
};

const create = (
  found: Verdict,
  said: string,
  context: ErrorContext,
  extra: Omit<ProviderErrorOptions, "kind">,
): ProviderError => {
  const { strings } = context;
  const words = cleanWords(said, context) || strings.noWords;
  const hint = extra.hint ?? hintFor(found, context);
  return new ProviderError(strings.failed(context.name, context.model, extra.status ?? null, words), {
    retryable: found.retryable,
    ...extra,
    kind: found.kind,
    ...(hint !== undefined && { hint }),
  });
};

/** A failure with words of our own. */
export const providerFailure = (
  kind: ErrorKind,
  words: string,
  context: ErrorContext,
  extra: Omit<ProviderErrorOptions, "kind"> = {},
): ProviderError => create(verdict(kind, extra.retryable ?? false), words, context, extra);

const hintFor = (found: Verdict, context: ErrorContext): string | undefined => {
  const { strings } = context;
  if (found === AUTH) return strings.hintKey(context.keyVariable ?? "API key");
  if (found === QUOTA) return strings.hintQuota;
  if (found === CONTEXT_OVERFLOW) return strings.hintContext;
  if (found === BAD_REQUEST) return strings.hintModel(context.model, shownUrl(context));
  return found === RATE_LIMIT || found === OVERLOADED || found === SERVER || found === TIMEOUT
    ? strings.hintLater
    : undefined;
};

/** The hint that the base URL may be wrong. */
export const baseUrlHint = (context: ErrorContext): string => context.strings.hintBaseUrl(shownUrl(context));

const shownUrl = ({ baseUrl, name }: ErrorContext): string => (baseUrl === undefined ? name : shownAddress(baseUrl));

const MAX_WORDS = 500;
const MAX_QUOTED = 200;

/** The beginning of what a server sent. Masked before it is cut: half a key is not found any more. */
export const quoted = (said: string, context: ErrorContext): string => cut(cleanWords(said, context), MAX_QUOTED);

/** The server's words, fit to be shown: one line, no control characters, no key. */
const cleanWords = (said: string, { apiKey, keyVariable }: ErrorContext): string => {
  const mask = createMask(new Map([[keyVariable ?? "API key", apiKey]]));
  const line = stripControls(mask(said))
    .replace(/[\s\p{Cc}\u202a-\u202e\u2066-\u2069]+/gu, " ")
    .trim();
  // Again: a key may only show when the characters inside it are gone.
  return cut(maskKeyShapes(mask(line)), MAX_WORDS);
};

const cut = (text: string, max: number): string =>
  text.length > max ? `${text.slice(0, max).replace(/[\uD800-\uDBFF]$/, "")}…` : text;

/** `Retry-After` in seconds or as a date, or `retry-after-ms`. */
const retryAfter = ({ headers }: HttpFailure, now: number): { readonly retryAfterMs?: number } => {
  const ms = Number.parseFloat(headers.get("retry-after-ms") ?? "");
  if (ms >= 0) return { retryAfterMs: ms };
  const value = headers.get("retry-after")?.trim() ?? "";
  if (/^\d+(\.\d+)?$/.test(value)) return { retryAfterMs: Number(value) * 1000 };
  // Date.parse makes a date of "-5" too.
  const date = /^[A-Z][a-z]+,? |^\d{4}-\d\d-\d\dT/.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(date) ? {} : { retryAfterMs: Math.max(0, date - now) };
};
