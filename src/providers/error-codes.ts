import type { ErrorKind } from "../schema/event.ts";

/** What a failure is, and whether it may pass by itself. */
export type Verdict = { readonly kind: ErrorKind; readonly retryable: boolean };

export const verdict = (kind: ErrorKind, retryable: boolean): Verdict => ({ kind, retryable });
export const AUTH = verdict("auth", false);
export const QUOTA = verdict("rate_limit", false);
export const RATE_LIMIT = verdict("rate_limit", true);
export const OVERLOADED = verdict("overloaded", true);
export const SERVER = verdict("server", true);
export const TIMEOUT = verdict("timeout", true);
export const NETWORK = verdict("network", true);
export const BAD_REQUEST = verdict("bad_request", false);
export const CONTEXT_OVERFLOW = verdict("context_overflow", false);
const CONTENT_FILTER = verdict("content_filter", false);

/** Codes and types that say more than the status does. */
export const SPECIFIC: Readonly<Record<string, Verdict>> = {
  insufficient_quota: QUOTA,
  billing_hard_limit_reached: QUOTA,
  billing_not_active: QUOTA,
  billing_error: QUOTA,
  insufficient_balance: QUOTA,
  insufficient_user_quota: QUOTA,
  insufficient_credits: QUOTA,
  exceeded_current_quota_error: QUOTA,
  enforced_spend_limit_reached: QUOTA,
  contract_spend_limit_reached: QUOTA,
  linked_organization_spend_limit_reached: QUOTA,
  context_length_exceeded: CONTEXT_OVERFLOW,
  context_window_exceeded: CONTEXT_OVERFLOW,
  model_context_window_exceeded: CONTEXT_OVERFLOW,
  exceed_context_size_error: CONTEXT_OVERFLOW,
  request_too_large: CONTEXT_OVERFLOW,
  string_above_max_length: CONTEXT_OVERFLOW,
  authentication_error: AUTH,
  permission_error: AUTH,
  invalid_api_key: AUTH,
  invalid_authentication_error: AUTH,
  unauthenticated: AUTH,
  permission_denied: AUTH,
  content_filter: CONTENT_FILTER,
  content_policy_violation: CONTENT_FILTER,
  data_inspection_failed: CONTENT_FILTER,
};

/** Codes and types that count where there is no status: in a stream, or in a body under HTTP 200. */
export const GENERAL: Readonly<Record<string, Verdict>> = {
  rate_limit_error: RATE_LIMIT,
  rate_limit_exceeded: RATE_LIMIT,
  rate_limit_reached_error: RATE_LIMIT,
  too_many_requests: RATE_LIMIT,
  resource_exhausted: RATE_LIMIT,
  slow_down: RATE_LIMIT,
  throttling: RATE_LIMIT,
  "throttling.ratequota": RATE_LIMIT,
  "throttling.allocationquota": RATE_LIMIT,
  overloaded_error: OVERLOADED,
  overloaded: OVERLOADED,
  engine_overloaded_error: OVERLOADED,
  server_is_overloaded: OVERLOADED,
  service_unavailable: OVERLOADED,
  unavailable: OVERLOADED,
  api_error: SERVER,
  server_error: SERVER,
  internal_error: SERVER,
  internal_server_error: SERVER,
  internal: SERVER,
  timeout_error: TIMEOUT,
  timeout: TIMEOUT,
  deadline_exceeded: TIMEOUT,
  invalid_request_error: BAD_REQUEST,
  bad_request_error: BAD_REQUEST,
  bad_request: BAD_REQUEST,
  invalid_argument: BAD_REQUEST,
  not_found_error: BAD_REQUEST,
  model_not_found: BAD_REQUEST,
};

/** What an HTTP status says. */
export const byStatus = (status: number): Verdict => {
  if (status === 401 || status === 403) return AUTH;
  if (status === 402) return QUOTA;
  if (status === 408) return TIMEOUT;
  if (status === 409) return SERVER;
  if (status === 413) return CONTEXT_OVERFLOW;
  if (status === 429) return RATE_LIMIT;
  if (status === 503 || status === 529) return OVERLOADED;
  if (status >= 500) return SERVER;
  return BAD_REQUEST;
};

/**
 * The one place that reads messages. Anthropic gives these two as a plain invalid_request_error, and most compatible servers
 * give overflow as a bare 400: only their words tell it from a request that is wrong in itself.
 */
export const MESSAGE_TELLS: readonly { readonly pattern: RegExp; readonly verdict: Verdict }[] = [
  {
    pattern:
      /prompt is too long|input is too long|exceeds? (?:the )?(?:model'?s? )?(?:maximum )?context|maximum context length|exceed context limit|context (?:length|window|size).{0,40}exceed|larger than the context|maximum (?:prompt|input) length|input token count.{0,40}exceeds/i,
    verdict: CONTEXT_OVERFLOW,
  },
  { pattern: /credit balance is too low|insufficient balance/i, verdict: QUOTA },
];
