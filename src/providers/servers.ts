export type Dialect = "openai" | "anthropic";

/** A server that speaks one of the two dialects. */
export type Server = {
  readonly name: string;
  readonly dialect: Dialect;
  /** As the dialect's SDK wants it: OpenAI's with its version, Anthropic's without. */
  readonly baseUrl: string;
  readonly keyVariable: string | null;
  readonly baseUrlVariable: string | null;
  readonly modelVariable: string | null;
  /** Taken where nobody names a model, at the server's own address. */
  readonly defaultModel: string | null;
  /** Runs on the person's machine: needs no key, and may take its time for the first byte. */
  readonly isLocal: boolean;
  /** Takes images, as far as its models in general do. */
  readonly vision: boolean;
};

type Row = {
  readonly dialect?: Dialect;
  readonly baseUrl: string;
  /** Instead of NAME_API_KEY. */
  readonly keyVariable?: string;
  readonly defaultModel?: string;
  readonly isLocal?: boolean;
  readonly vision?: boolean;
};

/** In the order in which a key is looked for. Addresses and variables are those of the vendors' own documentation. */
const ROWS: Readonly<Record<string, Row>> = {
  anthropic: {
    dialect: "anthropic",
    baseUrl: "https://api.anthropic.com",
    defaultModel: "claude-opus-4-8",
    vision: true,
  },
  openai: { baseUrl: "https://api.openai.com/v1", defaultModel: "gpt-5.4", vision: true },
  deepseek: { baseUrl: "https://api.deepseek.com", defaultModel: "deepseek-v4-pro" },
  openrouter: { baseUrl: "https://openrouter.ai/api/v1", defaultModel: "anthropic/claude-opus-4.8", vision: true },
  moonshot: { baseUrl: "https://api.moonshot.ai/v1", defaultModel: "kimi-k3" },
  qwen: {
    baseUrl: "https://dashscope.aliyuncs.com/compatible-mode/v1",
    keyVariable: "DASHSCOPE_API_KEY",
    defaultModel: "qwen3.8-max",
  },
  zhipu: { baseUrl: "https://open.bigmodel.cn/api/paas/v4", defaultModel: "glm-5.3" },
  groq: { baseUrl: "https://api.groq.com/openai/v1", defaultModel: "openai/gpt-oss-120b" },
  mistral: { baseUrl: "https://api.mistral.ai/v1", defaultModel: "devstral-latest" },
  xai: { baseUrl: "https://api.x.ai/v1", defaultModel: "grok-4.7" },
  gemini: {
    baseUrl: "https://generativelanguage.googleapis.com/v1beta/openai",
    defaultModel: "gemini-3.8-flash",
    vision: true,
  },
  ollama: { baseUrl: "http://127.0.0.1:11434/v1", isLocal: true },
  lmstudio: { baseUrl: "http://127.0.0.1:1234/v1", isLocal: true },
  llamacpp: { baseUrl: "http://127.0.0.1:8080/v1", isLocal: true },
  vllm: { baseUrl: "http://127.0.0.1:8000/v1", isLocal: true },
};

/** A server of the person's own configuration. Without a key variable it needs no key. */
export type CustomServer = {
  readonly dialect: Dialect;
  readonly baseUrl: string;
  readonly keyVariable?: string | undefined;
  readonly model?: string | undefined;
};

/** The known servers in their order, then the configured ones; a configured name replaces the known one in its place. */
export const listServers = (custom: Readonly<Record<string, CustomServer>> = {}): readonly Server[] => {
  const known = Object.entries(ROWS).map(([name, row]) => {
    const own = Object.hasOwn(custom, name) ? custom[name] : undefined;
    // Its key variable stays, so that the key stays known as one.
    return own
      ? customServer(name, { ...own, keyVariable: own.keyVariable ?? knownServer(name, row).keyVariable ?? undefined })
      : knownServer(name, row);
  });
  const more = Object.entries(custom).filter(([name]) => !Object.hasOwn(ROWS, name));
  return [...known, ...more.map(([name, server]) => customServer(name, server))];
};

const knownServer = (name: string, row: Row): Server => {
  const prefix = name.toUpperCase();
  return {
    name,
    dialect: row.dialect ?? "openai",
    baseUrl: row.baseUrl,
    keyVariable: row.keyVariable ?? `${prefix}_API_KEY`,
    baseUrlVariable: `${prefix}_BASE_URL`,
    modelVariable: `${prefix}_MODEL`,
    defaultModel: row.defaultModel ?? null,
    isLocal: row.isLocal ?? false,
    vision: row.vision ?? false,
  };
};

const customServer = (name: string, server: CustomServer): Server => ({
  name,
  dialect: server.dialect,
  baseUrl: server.baseUrl,
  keyVariable: server.keyVariable ?? null,
  baseUrlVariable: null,
  modelVariable: null,
  defaultModel: server.model ?? null,
  isLocal: server.keyVariable === undefined,
  vision: false,
});
