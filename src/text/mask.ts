/** Replaces secrets in a text that leaves the process. */
export type Mask = (text: string) => string;

// A shorter value would turn up in ordinary text.
const MIN_SECRET_LENGTH = 8;

/**
 * A mask for the exact values of known keys: each becomes `[masked NAME]`.
 * Applied once, where a tool result enters the history, so that model, journal, events, log and exports agree.
 */
export const createMask = (secrets: ReadonlyMap<string, string>): Mask => {
  const known = [...secrets]
    .filter(([, value]) => value.length >= MIN_SECRET_LENGTH)
    // The longer first: one key may begin with another.
    .sort(([, a], [, b]) => b.length - a.length);
  if (known.length === 0) return (text) => text;
  return (text) => known.reduce((masked, [name, value]) => masked.replaceAll(value, () => `[masked ${name}]`), text);
};

const KEY_SHAPES: readonly RegExp[] = [
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
  /\bsk-[A-Za-z0-9_-]{16,}/g,
  /\b(?:gsk|xai|ghp|gho|ghs|github_pat|glpat|xox[abprs])[-_][A-Za-z0-9_-]{16,}/g,
  /\bAIza[A-Za-z0-9_-]{30,}/g,
  /\bAKIA[A-Z0-9]{16}\b/g,
  /(?<=\bBearer\s+)[A-Za-z0-9._~+/-]{16,}=*/gi,
];

/** Masks text that is shaped like a key, where people or other systems read: log, text and stream-json output, notices, exports. */
export const maskKeyShapes: Mask = (text) =>
  KEY_SHAPES.reduce((masked, shape) => masked.replace(shape, "[masked]"), text);
