import { Lexer, type Token } from "marked";
import { visibleControls } from "../../text/clean.ts";
import type { Line, Role, Span } from "../line.ts";
import { span } from "../line.ts";
import { withPlainHost } from "../plain-host.ts";
import { decodeEntities } from "./entities.ts";
import { createSettler, FLANK, isWide, type Piece } from "./settle.ts";

/** The spans of a whole inline text, one list for each line between hard breaks. */
export const inlineLines = (text: string, roles: readonly Role[]): Line[] => {
  const settler = createSettler();
  return pieceLines([...settler.push(text), ...settler.end()], roles);
};

/** The spans of settled pieces. A hard break begins the next list. */
export const pieceLines = (pieces: readonly Piece[], roles: readonly Role[]): Line[] => {
  const lines: Span[][] = [[]];
  for (const piece of pieces) {
    switch (piece.type) {
      case "plain":
        lines.at(-1)?.push(span(piece.text, ...roles));
        break;
      case "markup":
        draw(new Lexer({ gfm: true }).inlineTokens(piece.text), roles, lines);
        break;
      case "break":
        lines.push([]);
        break;
      default:
        piece satisfies never;
    }
  }
  return lines;
};

const draw = (tokens: readonly Token[], roles: readonly Role[], lines: Span[][]): void => {
  for (const token of tokens) drawToken(token, roles, lines);
};

const drawToken = (token: Token, roles: readonly Role[], lines: Span[][]): void => {
  const write = (text: string, ...more: readonly Role[]): void => {
    if (text !== "") lines.at(-1)?.push(span(text, ...roles, ...more));
  };
  switch (token.type) {
    case "strong":
      draw(token.tokens ?? [], [...roles, "bold"], lines);
      break;
    case "em":
      draw(token.tokens ?? [], [...roles, "italic"], lines);
      break;
    case "del":
      draw(token.tokens ?? [], [...roles, "strike"], lines);
      break;
    case "codespan":
      write(joined(token.text), "code");
      break;
    case "br":
      lines.push([]);
      break;
    case "link":
      draw(token.tokens ?? [], [...roles, "link"], lines);
      // An address is shown whenever it is not what the text says already.
      if (!saysItself(token.raw, token.text, token.href)) write(` (${address(token.href)})`, "dim");
      break;
    case "image":
      write(joined(decodeEntities(token.text)), "link");
      write(`${token.text === "" ? "" : " "}(${address(token.href)})`, "dim");
      break;
    case "html":
      if (/^<br\s*\/?>$/i.test(token.raw)) lines.push([]);
      else write(joined(token.raw));
      break;
    case "escape":
      write(token.text);
      break;
    default:
      write(joined(decodeEntities(token.raw)));
  }
};

/** Without the newlines, which are spaces, and between wide characters nothing. */
const joined = (text: string): string => {
  const plain = text.replaceAll(FLANK, "");
  if (!plain.includes("\n")) return plain;
  return plain
    .split(/ *\n */)
    .reduce((before, after) => before + (isWide(before.slice(-1)) && isWide(after) ? "" : " ") + after);
};

/** Whether the text is the address itself, or a bare `www.` or mail address. */
const saysItself = (raw: string, text: string, href: string): boolean => {
  const real = withPlainHost(href);
  return real === text || (!raw.startsWith("[") && (real === `mailto:${text}` || real === `http://${text}`));
};

/** Where it really leads: letters that look like others are no part of it. */
const address = (href: string): string => visibleControls(withPlainHost(href.replaceAll(FLANK, "")));
