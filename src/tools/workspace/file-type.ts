/** Signatures at the start of a file, and what people call it. */
const SIGNATURES: readonly (readonly [hex: string, name: string])[] = [
  ["89504e470d0a1a0a", "PNG"],
  ["ffd8ff", "JPEG"],
  ["47494638", "GIF"],
  ["25504446", "PDF"],
  ["504b0304", "ZIP"],
  ["504b0506", "ZIP"],
  ["1f8b", "gzip"],
  ["425a68", "bzip2"],
  ["fd377a585a00", "xz"],
  ["28b52ffd", "zstd"],
  ["377abcaf271c", "7z"],
  ["7f454c46", "ELF"],
  ["feedface", "Mach-O"],
  ["feedfacf", "Mach-O"],
  ["cefaedfe", "Mach-O"],
  ["cffaedfe", "Mach-O"],
  ["cafebabe", "Java class / Mach-O"],
  ["4d5a", "PE"],
  ["0061736d", "WebAssembly"],
  ["53514c69746520666f726d6174203300", "SQLite"],
  ["52494646", "RIFF"],
  ["4f676753", "Ogg"],
  ["664c6143", "FLAC"],
  ["494433", "MP3"],
  ["774f4632", "WOFF2"],
  ["774f4646", "WOFF"],
  ["00000100", "ICO"],
  ["424d", "BMP"],
  ["fffe0000", "UTF-32"],
];

/** The type of a binary file by its first bytes, or null. Not for telling binary from text: text may begin with `MZ`. */
export const binaryType = (head: Uint8Array): string | null => {
  const hex = Buffer.from(head.subarray(0, 16)).toString("hex");
  return SIGNATURES.find(([signature]) => hex.startsWith(signature))?.[1] ?? null;
};
