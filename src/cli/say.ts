import { printableText } from "../text/printable-text.ts";

/** Tells a person something on standard error. Names and texts of others in it cannot drive the terminal. */
export const say = (text: string): void => void process.stderr.write(`harness9: ${printableText(text)}\n`);
