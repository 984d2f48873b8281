/** Length in UTF-8 bytes. */
export const byteLength = (text: string): number => Buffer.byteLength(text, "utf8");

/** The longest prefix of whole characters that fits in `maxBytes` UTF-8 bytes. */
export const headBytes = (text: string, maxBytes: number): string => {
  if (text.length * 3 <= maxBytes) return text;
  const bytes = Buffer.from(text, "utf8");
  return bytes.length <= maxBytes ? text : bytes.toString("utf8", 0, characterStart(bytes, maxBytes));
};

/** The longest suffix of whole characters that fits in `maxBytes` UTF-8 bytes. */
export const tailBytes = (text: string, maxBytes: number): string => {
  if (text.length * 3 <= maxBytes) return text;
  const bytes = Buffer.from(text, "utf8");
  if (bytes.length <= maxBytes) return text;
  let start = bytes.length - maxBytes;
  while (start < bytes.length && isContinuation(bytes[start])) start += 1;
  return bytes.toString("utf8", start);
};

/** The start of the character that the byte at `index` belongs to. */
export const characterStart = (bytes: Uint8Array, index: number): number => {
  let start = Math.min(index, bytes.length);
  while (start > 0 && start < bytes.length && isContinuation(bytes[start])) start -= 1;
  return start;
};

const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80;
