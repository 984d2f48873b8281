import { createHash } from "node:crypto";
import { deflateRawSync, inflateRawSync } from "node:zlib";

/** The SHA-256 of an object's bytes, in hex. */
export type ObjectHash = string;

export const sha256 = (bytes: Uint8Array): ObjectHash => createHash("sha256").update(bytes).digest("hex");

export const isObjectHash = (text: string): boolean => /^[0-9a-f]{64}$/.test(text);

const RAW = 0;
const DEFLATED = 1;
// Of less, compressing costs more time than it saves room.
const MIN_BYTES = 4096;
const PROBE_BYTES = 65_536;
const WORTH = 0.9;
const MAX_INFLATED_BYTES = 512 * 1024 * 1024;

/** An object as it is stored: compressed where that pays. */
export const encodeObject = (bytes: Buffer): Buffer => {
  const deflated = isWorthDeflating(bytes) ? deflateRawSync(bytes, { level: 1 }) : null;
  if (deflated && deflated.length < bytes.length * WORTH) return withTag(DEFLATED, deflated);
  return withTag(RAW, bytes);
};

/** The beginning of what is compressed already says so. */
const isWorthDeflating = (bytes: Buffer): boolean => {
  if (bytes.length <= MIN_BYTES) return false;
  if (bytes.length <= 4 * PROBE_BYTES) return true;
  return deflateRawSync(bytes.subarray(0, PROBE_BYTES), { level: 1 }).length < PROBE_BYTES * WORTH;
};

const withTag = (tag: number, bytes: Buffer): Buffer => Buffer.concat([Buffer.of(tag), bytes]);

/** Null where it is not what has that hash. */
export const decodeObject = (stored: Buffer, hash: ObjectHash): Buffer | null => {
  const bytes = inflated(stored);
  return bytes !== null && sha256(bytes) === hash ? bytes : null;
};

const inflated = (stored: Buffer): Buffer | null => {
  if (stored[0] === RAW) return stored.subarray(1);
  if (stored[0] !== DEFLATED) return null;
  try {
    return inflateRawSync(stored.subarray(1), { maxOutputLength: MAX_INFLATED_BYTES });
  } catch {
    // Not what deflate has written.
    return null;
  }
};
