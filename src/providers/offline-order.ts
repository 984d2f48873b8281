/** One step of an order to the offline demonstration; `source` is its own words. */
export type OfflineStep = StepAction & { readonly source: string };

type StepAction =
  | { readonly kind: "read"; readonly path: string }
  | { readonly kind: "write"; readonly path: string; readonly text: string }
  | { readonly kind: "replace"; readonly from: string; readonly to: string; readonly path: string }
  | { readonly kind: "run"; readonly command: string };

const SEPARATOR =
  /(?<!;)\s+then\s+(?=(?:read|write|replace|run)\s|读取|写入|替换|运行)|\s*[,，;；]?\s*然后\s*(?=(?:read|write|replace|run)\s|读取|写入|替换|运行)/giu;

/**
 * The steps of an order, or null where one of them is outside the grammar: `read PATH`, `write PATH: TEXT`,
 * `replace "A" with "B" in PATH`, `run COMMAND`, joined by ` then ` (然后) before a verb that stands outside quotes.
 */
export const parseOrder = (order: string): readonly OfflineStep[] | null => {
  const steps = splitOrder(order.trim()).map(parseStep);
  return steps.every((step) => step !== null) ? steps : null;
};

const splitOrder = (order: string): string[] => {
  const parts: string[] = [];
  let start = 0;
  for (const match of order.matchAll(SEPARATOR)) {
    if (isQuoted(order.slice(start), match.index - start)) continue;
    parts.push(order.slice(start, match.index));
    start = match.index + match[0].length;
  }
  return [...parts, order.slice(start)];
};

const CLOSING: Readonly<Record<string, string>> = { '"': '"', "'": "'", "“": "”", "「": "」" };

/** Whether the character at `index` stands inside a pair of quotes. A quote that nothing closes, or an apostrophe, is none. */
const isQuoted = (text: string, index: number): boolean => {
  for (let at = 0; at < index; at += 1) {
    const closing = CLOSING[text[at] ?? ""];
    const isApostrophe = text[at] === "'" && /[\p{L}\p{N}]/u.test(text[at - 1] ?? "");
    if (closing === undefined || isApostrophe) continue;
    const end = text.indexOf(closing, at + 1);
    if (end > index) return true;
    if (end >= 0) at = end;
  }
  return false;
};

const QUOTED = `"(?:[^"\\\\]|\\\\.)*"|'(?:[^'\\\\]|\\\\.)*'|“[^”]*”|「[^」]*」`;
const PATH = `${QUOTED}|\`[^\`]+\`|[^\\s:："'“「]+`;

const READ = new RegExp(`^(?:read\\s+|读取\\s*)(${PATH})$`, "iu");
const WRITE = new RegExp(`^(?:write\\s+|写入\\s*)(${PATH})\\s*[:：](.*)$`, "isu");
const REPLACE = new RegExp(
  `^(?:replace\\s+|替换\\s*)(${QUOTED})\\s*(?:with|替换为|为|成)\\s*(${QUOTED})\\s*(?:in|于|在)\\s*(${PATH})$`,
  "isu",
);
const RUN = /^(?:run\s+|运行\s*)(\S.*)$/isu;

const parseStep = (text: string): OfflineStep | null => {
  const source = text.trim();
  const action = parseAction(source);
  return action && { ...action, source };
};

const parseAction = (step: string): StepAction | null => {
  const read = READ.exec(step);
  if (read?.[1]) return { kind: "read", path: unquote(read[1]) };
  const write = WRITE.exec(step);
  if (write?.[1]) return { kind: "write", path: unquote(write[1]), text: unquote((write[2] ?? "").trim()) };
  const replace = REPLACE.exec(step);
  if (replace?.[1] && replace[2] && replace[3]) {
    return { kind: "replace", from: unquote(replace[1]), to: unquote(replace[2]), path: unquote(replace[3]) };
  }
  const run = RUN.exec(step);
  return run?.[1] ? { kind: "run", command: run[1] } : null;
};

/** Takes one pair of quotes off, and the backslash before a quote inside. Every other backslash is meant. */
const unquote = (text: string): string => {
  const closing = text[0] === "`" ? "`" : CLOSING[text[0] ?? ""];
  if (closing === undefined || text.length < 2 || !text.endsWith(closing)) return text;
  return text.slice(1, -1).replaceAll(`\\${closing}`, closing);
};
