import type { ModelInfo, Prices } from "../schema/model.ts";

/** When the table was last checked, as people see it beside a price. */
export const MODEL_TABLE_DATE = "2026-11-29";

/**
 * Context window, output limit, then US dollars per million tokens: input, output, cache read, cache write.
 * A cache price that is left out is the input price (no discount); a row without prices has unknown ones.
 */
type Row = readonly [
  contextWindow: number,
  maxOutput: number | null,
  input?: number,
  output?: number,
  cacheRead?: number,
  cacheWrite?: number,
];

/**
 * Sources: the vendors' public model and price pages and the public catalogue models.dev, as of MODEL_TABLE_DATE.
 * Standard rates. Where a vendor asks more for long prompts (over 100k, 200k or 272k tokens), it is the rate below
 * that; where the rate depends on the hour, it is the higher one. What is not known for sure is not here.
 */
const TABLE: Readonly<Record<string, Readonly<Record<string, Row>>>> = {
  anthropic: {
    "claude-fable-5-1": [1_000_000, 128_000, 10, 50, 0.25, 12.5],
    "claude-fable-5": [1_000_000, 128_000, 10, 50, 1, 12.5],
    "claude-opus-5-5": [1_000_000, 128_000, 4, 20, 0.2, 5],
    "claude-opus-5": [1_000_000, 128_000, 5, 25, 0.5, 6.25],
    "claude-opus-4-8": [1_000_000, 128_000, 5, 25, 0.5, 6.25],
    "claude-opus-4-7": [1_000_000, 128_000, 5, 25, 0.5, 6.25],
    "claude-opus-4-6": [1_000_000, 128_000, 5, 25, 0.5, 6.25],
    "claude-opus-4-5": [200_000, 64_000, 5, 25, 0.5, 6.25],
    "claude-opus-4-1": [200_000, 32_000, 15, 75, 1.5, 18.75],
    "claude-opus-4-0": [200_000, 32_000, 15, 75, 1.5, 18.75],
    "claude-opus-4": [200_000, 32_000, 15, 75, 1.5, 18.75],
    "claude-sonnet-5-5": [1_000_000, 128_000, 2, 10, 0.1, 2.5],
    "claude-sonnet-5": [1_000_000, 128_000, 2, 10, 0.2, 2.5],
    "claude-sonnet-4-6": [1_000_000, 128_000, 3, 15, 0.3, 3.75],
    "claude-sonnet-4-5": [200_000, 64_000, 3, 15, 0.3, 3.75],
    "claude-sonnet-4-0": [200_000, 64_000, 3, 15, 0.3, 3.75],
    "claude-sonnet-4": [200_000, 64_000, 3, 15, 0.3, 3.75],
    "claude-haiku-5-5": [1_000_000, 128_000, 0.1, 0.5, 0.01, 0.125],
    "claude-haiku-4-5": [200_000, 64_000, 1, 5, 0.1, 1.25],
    "claude-3-5-sonnet": [200_000, 8192, 3, 15, 0.3, 3.75],
    "claude-3-haiku": [200_000, 4096, 0.25, 1.25, 0.03, 0.3],
  },
  openai: {
    "gpt-6.2-astra": [1_050_000, 128_000],
    "gpt-6.2-sol": [1_050_000, 128_000],
    "gpt-6.1-sol": [1_050_000, 128_000],
    "gpt-6-astra": [1_050_000, 128_000, 10, 50, 1, 12.5],
    "gpt-6-sol": [1_050_000, 128_000, 2, 10, 0.2, 2.5],
    "gpt-6-luna": [1_050_000, 128_000, 0.1, 0.5, 0.01, 0.125],
    "gpt-5.6": [1_050_000, 128_000, 4, 20, 0.4, 5],
    "gpt-5.6-sol": [1_050_000, 128_000, 4, 20, 0.4, 5],
    "gpt-5.6-terra": [1_050_000, 128_000, 2, 12, 0.2, 2.5],
    "gpt-5.6-luna": [1_050_000, 128_000, 0.2, 1.2, 0.02, 0.25],
    "gpt-5.5": [1_050_000, 128_000, 5, 30, 0.5],
    "gpt-5.5-pro": [1_050_000, 128_000, 30, 180],
    "gpt-5.4": [1_050_000, 128_000, 2.5, 15, 0.25],
    "gpt-5.4-mini": [400_000, 128_000, 0.75, 4.5, 0.075],
    "gpt-5.4-nano": [400_000, 128_000, 0.2, 1.25, 0.02],
    "gpt-5.4-pro": [1_050_000, 128_000, 30, 180],
    "gpt-5.3-codex": [272_000, 128_000, 1.75, 14, 0.175],
    "gpt-5.2": [400_000, 128_000, 1.75, 14, 0.175],
    "gpt-5.2-codex": [272_000, 128_000, 1.75, 14, 0.175],
    "gpt-5.2-pro": [400_000, 128_000, 21, 168],
    "gpt-5.1": [400_000, 128_000, 1.25, 10, 0.125],
    "gpt-5.1-codex": [272_000, 128_000, 1.25, 10, 0.125],
    "gpt-5.1-codex-max": [272_000, 128_000, 1.25, 10, 0.125],
    "gpt-5.1-codex-mini": [272_000, 128_000, 0.25, 2, 0.025],
    "gpt-5": [400_000, 128_000, 1.25, 10, 0.125],
    "gpt-5-mini": [400_000, 128_000, 0.25, 2, 0.025],
    "gpt-5-nano": [400_000, 128_000, 0.05, 0.4, 0.005],
    "gpt-5-codex": [272_000, 128_000, 1.25, 10, 0.125],
    "gpt-4.1": [1_047_576, 32_768, 2, 8, 0.5],
    "gpt-4.1-mini": [1_047_576, 32_768, 0.4, 1.6, 0.1],
    "gpt-4.1-nano": [1_047_576, 32_768, 0.1, 0.4, 0.025],
    "gpt-4o": [128_000, 16_384, 2.5, 10, 1.25],
    "gpt-4o-2024-05-13": [128_000, 4096, 5, 15],
    "gpt-4o-mini": [128_000, 16_384, 0.15, 0.6, 0.075],
    "gpt-4-turbo": [128_000, 4096, 10, 30],
    o3: [200_000, 100_000, 2, 8, 0.5],
    "o3-mini": [200_000, 100_000, 1.1, 4.4, 0.55],
    "o4-mini": [200_000, 100_000, 1.1, 4.4, 0.275],
    o1: [200_000, 100_000, 15, 60, 7.5],
  },
  deepseek: {
    "deepseek-v4-pro": [1_000_000, 384_000, 1.32, 3.96, 0.044],
    "deepseek-flash": [1_000_000, 384_000, 0.3, 1.2, 0.006],
    "deepseek-v4-flash": [1_000_000, 384_000, 0.3, 1.2, 0.006],
  },
  moonshot: {
    "kimi-k3": [1_048_576, 131_072, 3, 15, 0.3],
    "kimi-k2.7-code": [262_144, 262_144, 0.95, 4, 0.19],
    "kimi-k2.7-code-highspeed": [262_144, 262_144, 1.9, 8, 0.38],
    "kimi-k2.6": [262_144, 262_144, 0.95, 4, 0.16],
    "kimi-k2.5": [262_144, 262_144, 0.6, 3, 0.1],
  },
  // Prices differ between the vendor's regions, which share these names.
  qwen: {
    "qwen3.8-max": [1_000_000, 131_072],
    "qwen3.8-flash": [1_000_000, 131_072],
    "qwen3.7-max": [1_000_000, 65_536],
    "qwen3.7-plus": [1_000_000, 64_000],
    "qwen3.6-plus": [1_000_000, 65_536],
    "qwen3.6-flash": [1_000_000, 65_536],
    "qwen3-coder-plus": [1_000_000, 65_536],
    "qwen3-coder-next": [262_144, 65_536],
  },
  // The same: the prices in public tables are those of the international address.
  zhipu: {
    "glm-5.3": [1_000_000, 131_072],
    "glm-5.3-flash": [1_000_000, 131_072],
    "glm-5.2": [1_000_000, 131_072],
    "glm-5.1": [200_000, 131_072],
    "glm-5": [204_800, 131_072],
    "glm-4.7": [204_800, 131_072],
    "glm-4.6": [204_800, 131_072],
    "glm-4.5": [131_072, 98_304],
  },
  groq: {
    "openai/gpt-oss-120b": [131_072, 65_536, 0.15, 0.6, 0.075],
    "openai/gpt-oss-20b": [131_072, 65_536, 0.075, 0.3, 0.0375],
    "llama-3.3-70b-versatile": [131_072, 32_768, 0.59, 0.79],
    "llama-3.1-8b-instant": [131_072, 131_072, 0.05, 0.08],
    "qwen/qwen3-32b": [131_072, 40_960, 0.29, 0.59],
  },
  mistral: {
    "devstral-2512": [262_144, 262_144, 0.4, 2],
    "devstral-latest": [262_144, 262_144, 0.4, 2],
    "devstral-medium-latest": [262_144, 262_144, 0.4, 2],
    "mistral-large-2512": [262_144, 262_144, 0.5, 1.5],
    "mistral-large-latest": [262_144, 262_144, 0.5, 1.5],
    "mistral-medium-2604": [262_144, 262_144, 1.5, 7.5],
    "mistral-medium-latest": [262_144, 262_144, 1.5, 7.5],
    "mistral-small-2603": [256_000, 256_000, 0.15, 0.6],
    "mistral-small-latest": [256_000, 256_000, 0.15, 0.6],
    "codestral-latest": [256_000, 4096, 0.3, 0.9],
  },
  xai: {
    "grok-4.7": [500_000, null, 2, 6, 0.5],
    "grok-4.6": [500_000, null, 2, 6, 0.5],
    "grok-4.5": [500_000, null, 2, 6, 0.3],
    "grok-4.3": [1_000_000, 30_000, 1.25, 2.5, 0.2],
    "grok-4": [256_000, 64_000, 3, 15, 0.75],
    "grok-4-fast": [2_000_000, 30_000, 0.2, 0.5, 0.05],
    "grok-4-1-fast": [2_000_000, 30_000, 0.2, 0.5, 0.05],
    "grok-code-fast-1": [256_000, 10_000, 0.2, 1.5, 0.02],
  },
  gemini: {
    "gemini-3.8-flash": [1_048_576, 65_536, 0.75, 3.75, 0.075],
    "gemini-3.7-flash": [1_048_576, 65_536, 0.75, 3.75, 0.075],
    "gemini-3.6-flash": [1_048_576, 65_536, 0.75, 3.75, 0.075],
    "gemini-3.5-flash": [1_048_576, 65_536, 1.5, 9, 0.15],
    "gemini-3.5-flash-lite": [1_048_576, 65_536, 0.3, 2.5, 0.03],
    "gemini-3.1-pro-preview": [1_048_576, 65_536, 2, 12, 0.2],
    "gemini-3.1-flash-lite": [1_048_576, 65_536, 0.25, 1.5, 0.025],
    "gemini-3-pro-preview": [1_048_576, 65_536, 2, 12, 0.2],
    "gemini-3-flash-preview": [1_048_576, 65_536, 0.5, 3, 0.05],
    "gemini-2.5-pro": [1_048_576, 65_536, 1.25, 10, 0.125],
    "gemini-2.5-flash": [1_048_576, 65_536, 0.3, 2.5, 0.03],
    "gemini-2.5-flash-lite": [1_048_576, 65_536, 0.1, 0.4, 0.01],
  },
};

/** Vendor prefixes of other servers' model ids. `samePrices`: routers pass this vendor's own prices on. */
const PREFIXES: Readonly<Record<string, { readonly vendor: string; readonly samePrices: boolean }>> = {
  anthropic: { vendor: "anthropic", samePrices: true },
  openai: { vendor: "openai", samePrices: true },
  google: { vendor: "gemini", samePrices: true },
  "x-ai": { vendor: "xai", samePrices: true },
  deepseek: { vendor: "deepseek", samePrices: false },
  moonshotai: { vendor: "moonshot", samePrices: false },
  qwen: { vendor: "qwen", samePrices: false },
  "z-ai": { vendor: "zhipu", samePrices: false },
  mistralai: { vendor: "mistral", samePrices: false },
};

/** What the person's config says of a model: parts win over the table's. */
export type ModelOverrides = Readonly<
  Record<
    string,
    {
      readonly contextWindow?: number | undefined;
      readonly maxOutputTokens?: number | undefined;
      readonly prices?:
        | {
            readonly input: number;
            readonly output: number;
            readonly cacheRead?: number | undefined;
            readonly cacheWrite?: number | undefined;
          }
        | undefined;
    }
  >
>;

const UNKNOWN: ModelInfo = { contextWindow: null, maxOutputTokens: null, prices: null };

/** What is known of a model; `overrides` by `provider/model`. Vendor prefixes and dates in the id are understood. */
export const lookupModel = (provider: string, model: string, overrides: ModelOverrides = {}): ModelInfo => {
  const info = tableInfo(provider, model);
  const key = `${provider}/${model}`;
  const override = Object.hasOwn(overrides, key) ? overrides[key] : undefined;
  if (!override) return info;
  const { input, output, cacheRead, cacheWrite } = override.prices ?? {};
  return {
    contextWindow: override.contextWindow ?? info.contextWindow,
    maxOutputTokens: override.maxOutputTokens ?? info.maxOutputTokens,
    prices: prices(input, output, cacheRead, cacheWrite) ?? info.prices,
  };
};

/** The models of a vendor that the table knows. */
export const knownModels = (vendor: string): readonly string[] =>
  Object.hasOwn(TABLE, vendor) ? Object.keys(TABLE[vendor] ?? {}) : [];

/** The vendor whose own model this id names, or null. */
export const vendorOf = (model: string): string | null =>
  Object.keys(TABLE).find((vendor) => vendor !== "groq" && findRow(vendor, model)) ?? null;

const tableInfo = (provider: string, model: string): ModelInfo => {
  const own = findRow(provider, model);
  if (own) return rowInfo(own);
  const slash = model.indexOf("/");
  const name = model.slice(0, Math.max(slash, 0));
  const prefix = Object.hasOwn(PREFIXES, name) ? PREFIXES[name] : undefined;
  const row = prefix && findRow(prefix.vendor, model.slice(slash + 1));
  if (!prefix || !row) return UNKNOWN;
  const info = rowInfo(row);
  const isPassedOn = prefix.samePrices && (provider === "openrouter" || provider === prefix.vendor);
  return isPassedOn ? info : { ...info, prices: null };
};

const findRow = (vendor: string, model: string): Row | undefined => {
  const rows = Object.hasOwn(TABLE, vendor) ? TABLE[vendor] : undefined;
  if (!rows) return undefined;
  const id = idSpellings(model).find((spelling) => Object.hasOwn(rows, spelling));
  return id === undefined ? undefined : rows[id];
};

/** The id as it is, then without its date; each also with the dots of a Claude version as dashes. Never a mere beginning of it. */
const idSpellings = (model: string): string[] => {
  const undated = model.replace(/-(?:20\d{6}|20\d{2}-\d{2}-\d{2}|latest)$/, "");
  return [model, undated].flatMap((id) => (id.startsWith("claude-") ? [id, id.replaceAll(".", "-")] : [id]));
};

const rowInfo = ([contextWindow, maxOutputTokens, input, output, cacheRead, cacheWrite]: Row): ModelInfo => ({
  contextWindow,
  maxOutputTokens,
  prices: prices(input, output, cacheRead, cacheWrite),
});

const prices = (
  input: number | undefined,
  output: number | undefined,
  cacheRead: number | undefined,
  cacheWrite: number | undefined,
): Prices | null =>
  input === undefined || output === undefined
    ? null
    : { input, output, cacheRead: cacheRead ?? input, cacheWrite: cacheWrite ?? input };
