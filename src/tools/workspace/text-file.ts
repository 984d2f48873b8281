/** A `TextDecoder` of the kind that both libraries of types agree on. */
type Decoder = { decode(bytes?: Uint8Array, options?: { readonly stream?: boolean }): string };

export type Encoding = "utf-8" | "utf-16le" | "utf-16be";

/** How a file's bytes are text. `bomBytes` is the length of the byte order mark, 0 without one. */
export type TextFormat = { readonly encoding: Encoding; readonly bomBytes: 0 | 2 | 3 };

export type TextFile = TextFormat & { readonly text: string };

const UTF8_BOM = Buffer.from([0xef, 0xbb, 0xbf]);
// What git and grep look at to tell binary from text.
const SNIFFED_BYTES = 8000;

/** The format that the first bytes of a file tell, or null for binary: a NUL without a UTF-16 mark. */
export const sniffFormat = (head: Uint8Array): TextFormat | null => {
  const [first, second, third, fourth] = head;
  if (first === 0xef && second === 0xbb && third === 0xbf) return { encoding: "utf-8", bomBytes: 3 };
  // FF FE 00 00 is UTF-32.
  if (first === 0xff && second === 0xfe && !(third === 0 && fourth === 0)) return { encoding: "utf-16le", bomBytes: 2 };
  if (first === 0xfe && second === 0xff) return { encoding: "utf-16be", bomBytes: 2 };
  return head.subarray(0, SNIFFED_BYTES).includes(0) ? null : { encoding: "utf-8", bomBytes: 0 };
};

/** Decodes a whole file without its BOM, so that encodeText gives the same bytes; null when it is not text. */
export const decodeText = (bytes: Buffer): TextFile | null => {
  const format = sniffFormat(bytes);
  if (!format) return null;
  try {
    return { ...format, text: strictDecoder(format.encoding).decode(bytes.subarray(format.bomBytes)) };
  } catch {
    // Invalid bytes, an odd length or half a surrogate pair: what cannot be written back as it was is no text.
    return null;
  }
};

/** Decodes strictly, in pieces or whole: throws TypeError where the bytes are not this encoding. Keeps a U+FEFF. */
export const strictDecoder = (encoding: Encoding): Decoder =>
  new TextDecoder(encoding, { fatal: true, ignoreBOM: true });

/** The bytes of `text` in a file's format, BOM included. `text` has no lone surrogates. */
export const encodeText = (text: string, { encoding, bomBytes }: TextFormat): Buffer => {
  if (encoding === "utf-8")
    return bomBytes === 0 ? Buffer.from(text, "utf8") : Buffer.concat([UTF8_BOM, Buffer.from(text, "utf8")]);
  const bytes = Buffer.from(`\ufeff${text}`, "utf16le");
  return encoding === "utf-16le" ? bytes : bytes.swap16();
};

/** Half of a character, which no encoding can write. */
export const hasLoneSurrogate = (text: string): boolean => /\p{Cs}/u.test(text);
