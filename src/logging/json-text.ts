/**
 * JSON text laid out again without parsing it into values, so that the order of keys and every digit of a number stay.
 * `text` must be valid JSON; strings are written as JSON.stringify writes them.
 */
export const formatJson = (text: string, indent: number): string => {
  const tokens = text.match(TOKEN) ?? [];
  const pretty = indent > 0;
  let depth = 0;
  const newline = (): string => (pretty ? `\n${" ".repeat(depth * indent)}` : "");
  return tokens
    .map((token, index) => {
      switch (token) {
        case "{":
        case "[":
          if (CLOSING.has(tokens[index + 1] ?? "")) return token;
          depth += 1;
          return token + newline();
        case "}":
        case "]":
          if (OPENING.has(tokens[index - 1] ?? "")) return token;
          depth -= 1;
          return newline() + token;
        case ",":
          return token + newline();
        case ":":
          return pretty ? ": " : ":";
        default:
          return token.startsWith('"') ? JSON.stringify(JSON.parse(token)) : token;
      }
    })
    .join("");
};

const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]|[^\s{}[\],:"]+/g;
const OPENING = new Set(["{", "["]);
const CLOSING = new Set(["}", "]"]);
