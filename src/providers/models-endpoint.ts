import { shownAddress } from "../text/address.ts";
import { ProviderError } from "./provider.ts";
import type { Fetch } from "./transport.ts";
import { listAt, parseJson, textAt } from "./wire.ts";

const ANTHROPIC_VERSION = "2023-06-01";

/**
 * The names of the models that a server lists, in its order: `GET /models` of an OpenAI-shaped base URL (with its `/v1`),
 * `GET /v1/models` of an Anthropic-shaped one.
 * @throws ProviderError or an error of the connection; the caller knows the provider and says it in its words.
 */
export const listModels = async (
  baseUrl: string,
  apiKey: string,
  fetch: Fetch,
  signal: AbortSignal,
  dialect: "openai" | "anthropic" = "openai",
): Promise<string[]> => {
  const base = baseUrl.replace(/\/(?:chat\/completions|v1\/messages)?\/*$/, "");
  const url = dialect === "anthropic" ? `${base.replace(/\/v1$/, "")}/v1/models?limit=1000` : `${base}/models`;
  const response = await fetch(url, {
    headers: { accept: "application/json", ...authorization(apiKey, dialect) },
    signal,
  });
  if (!response.ok)
    throw new ProviderError(`GET ${shownAddress(url)}: HTTP ${response.status}`, {
      kind: response.status === 401 || response.status === 403 ? "auth" : "bad_request",
      status: response.status,
    });
  // JSON.parse's own error would quote what the server sent.
  const body = parseJson(await response.text());
  if (body === undefined) throw new ProviderError(`GET ${shownAddress(url)}: no JSON`, { kind: "protocol" });
  const list = Array.isArray(body) ? (body as unknown[]) : [...listAt(body, "data"), ...listAt(body, "models")];
  const names = list.map((model) =>
    typeof model === "string" ? model : textAt(model, "id") || textAt(model, "name") || textAt(model, "model"),
  );
  return [...new Set(names.filter((name) => name !== ""))];
};

const authorization = (apiKey: string, dialect: "openai" | "anthropic"): Record<string, string> => {
  if (dialect === "anthropic")
    return { "anthropic-version": ANTHROPIC_VERSION, ...(apiKey && { "x-api-key": apiKey }) };
  return apiKey === "" ? {} : { authorization: `Bearer ${apiKey}` };
};
