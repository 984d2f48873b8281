import * as z from "zod";

/** setTimeout's own limit; a longer wait would end at once. */
const MAX_DURATION_MS = 2_147_483_647;
const DURATION = /^(\d+(?:\.\d+)?)\s*(ms|s|m|h)$/;
const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** Milliseconds from a number, or from text such as "500ms", "90s", "10m" and "1h". */
const duration = (maxMs = MAX_DURATION_MS) =>
  z
    .union([z.number(), z.string().regex(DURATION, "as in 90s, 10m, 1h")], {
      error: 'expected milliseconds, or text such as "90s", "10m", "1h"',
    })
    .transform((value) => (typeof value === "number" ? value : durationMs(value)))
    .pipe(z.int().min(1).max(maxMs));

const durationMs = (text: string): number => {
  const [, amount, unit] = DURATION.exec(text) ?? [];
  return Math.round(Number(amount) * (UNIT_MS[unit ?? ""] ?? Number.NaN));
};

const count = (min: number) => z.int().min(min);
const word = () => z.string().trim().min(1);
const rules = () => z.array(word()).readonly();
const price = () => z.number().min(0);

/** `http://` or `https://`; other schemes would send a key who knows where. */
const httpUrl = () => z.url({ protocol: /^https?$/, error: "expected an http:// or https:// address" });

const modelOverride = () =>
  z.strictObject({
    contextWindow: count(1).optional(),
    maxOutputTokens: count(1).optional(),
    /** US dollars per million tokens. */
    prices: z
      .strictObject({
        input: price(),
        output: price(),
        cacheRead: price().optional(),
        cacheWrite: price().optional(),
      })
      .optional(),
  });

const compatibleServer = () =>
  z.strictObject({
    dialect: z.enum(["openai", "anthropic"]),
    baseUrl: httpUrl(),
    /** The variable that holds its key; without one it needs no key. */
    keyVariable: z
      .string()
      .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "expected the name of a variable")
      .optional(),
    model: word().optional(),
  });

/** A program that hears of an event; docs/hooks.md. */
const hook = () =>
  z
    .strictObject({
      on: z.enum(["tool.pre", "tool.post", "session.start", "prompt.submit", "stop", "session.end"]),
      match: z
        .string()
        .regex(/^[A-Za-z0-9_*-]+$/, "expected a tool's name, * standing for any characters")
        .optional(),
      command: word().refine((command) => !command.includes("\0"), "expected no NUL character"),
      timeout: duration().optional(),
      onFailure: z.enum(["block", "allow"]).optional(),
    })
    .refine(({ on, match }) => match === undefined || on.startsWith("tool."), {
      path: ["match"],
      error: "only tool.pre and tool.post have a tool to match",
    });

/**
 * Everything that can be set, by its dotted key; times in milliseconds, lengths in UTF-8 bytes. The one schema of all layers,
 * made key by key: all of them together take longer than everything else about the settings.
 */
export const SETTING_SCHEMAS = {
  language: () => z.enum(["auto", "zh", "en"]),
  provider: () => word().nullable(),
  model: () => word().nullable(),
  thinking: () => z.enum(["off", "two-stage", "native"]),
  effort: () => z.enum(["minimal", "low", "medium", "high", "xhigh", "max"]).nullable(),
  stream: () => z.boolean(),
  permissionMode: () => z.enum(["ask", "auto-edit", "plan", "auto", "yolo"]).nullable(),
  sandbox: () => z.enum(["auto", "require", "off"]),
  "sandbox.network": () => z.enum(["on", "off"]),
  /** Files and folders: absolute, `~/…`, or from the work directory. */
  "sandbox.writable": () => rules(),
  allow: () => rules(),
  ask: () => rules(),
  deny: () => rules(),
  hooks: () => z.array(hook()).readonly(),
  addDirs: () => rules(),
  maxTurns: () => count(1),
  maxCostUsd: () => z.number().positive().nullable(),
  maxTokens: () => count(1).nullable(),
  maxTimeMs: () => duration().nullable(),
  toolTimeoutMs: () => duration(),
  maxConcurrentTools: () => count(0),
  maxReadBytes: () => z.union([z.literal("auto"), count(1)], { error: 'expected "auto" or a number of bytes' }),
  bashTimeoutMs: () => duration(600_000),
  maxOutputBytes: () => count(1),
  attempts: () => count(1),
  /** The share of the model's window from which on the context is compacted. */
  "compaction.at": () => z.number().min(0.1).max(0.95),
  rewind: () => z.boolean(),
  memory: () => z.boolean(),
  /** Null = sessions stay until somebody removes them. */
  "retention.days": () => count(1).nullable(),
  theme: () => z.enum(["auto", "dark", "light", "high-contrast", "none"]),
  glyphs: () => z.enum(["auto", "unicode", "ascii"]),
  screenReader: () => z.boolean(),
  showThinking: () => z.boolean(),
  "log.maxOutputBytes": () => count(1),
  "log.indent": () => count(0),
  "log.inlineArguments": () => count(0),
  models: () => z.record(z.string(), modelOverride()).readonly(),
  providers: () => z.record(word(), compatibleServer()).readonly(),
};

type SettingSchemas = typeof SETTING_SCHEMAS;
export type SettingKey = keyof SettingSchemas;
export type Settings = { readonly [Key in SettingKey]: z.output<ReturnType<SettingSchemas[Key]>> };

/** `null` leaves a setting open: no limit, or the front end's own choice. */
export const DEFAULT_SETTINGS: Settings = {
  language: "auto",
  provider: null,
  model: null,
  thinking: "off",
  effort: null,
  stream: true,
  permissionMode: null,
  sandbox: "auto",
  "sandbox.network": "on",
  "sandbox.writable": [],
  allow: [],
  ask: [],
  deny: [],
  hooks: [],
  addDirs: [],
  maxTurns: 50,
  maxCostUsd: null,
  maxTokens: null,
  maxTimeMs: null,
  toolTimeoutMs: 60_000,
  maxConcurrentTools: 0,
  maxReadBytes: "auto",
  bashTimeoutMs: 30_000,
  maxOutputBytes: 8000,
  attempts: 5,
  "compaction.at": 0.8,
  rewind: true,
  memory: true,
  "retention.days": 90,
  theme: "auto",
  glyphs: "auto",
  screenReader: false,
  showThinking: false,
  "log.maxOutputBytes": 512,
  "log.indent": 8,
  "log.inlineArguments": 80,
  models: {},
  providers: {},
};

export const SETTING_KEYS = Object.keys(DEFAULT_SETTINGS) as readonly SettingKey[];

export const isSettingKey = (key: string): key is SettingKey => Object.hasOwn(DEFAULT_SETTINGS, key);

/** What a project's `.env` may set beside keys and addresses, and only in a trusted folder. */
export const PROJECT_VARIABLES: readonly SettingKey[] = ["provider", "model", "language"];

/** `maxTurns` → `HARNESS9_MAX_TURNS`, `log.indent` → `HARNESS9_LOG_INDENT`; null for what only a file can hold. */
export const environmentName = (key: SettingKey): string | null =>
  key === "models" || key === "providers" || key === "hooks"
    ? null
    : `HARNESS9_${key
        .replace(/[A-Z]/g, (letter) => `_${letter}`)
        .replace(".", "_")
        .toUpperCase()}`;
