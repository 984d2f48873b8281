import type { Emitter } from "highlight.js";
import core from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import c from "highlight.js/lib/languages/c";
import cpp from "highlight.js/lib/languages/cpp";
import css from "highlight.js/lib/languages/css";
import diff from "highlight.js/lib/languages/diff";
import dockerfile from "highlight.js/lib/languages/dockerfile";
import go from "highlight.js/lib/languages/go";
import ini from "highlight.js/lib/languages/ini";
import java from "highlight.js/lib/languages/java";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import kotlin from "highlight.js/lib/languages/kotlin";
import makefile from "highlight.js/lib/languages/makefile";
import markdown from "highlight.js/lib/languages/markdown";
import php from "highlight.js/lib/languages/php";
import python from "highlight.js/lib/languages/python";
import ruby from "highlight.js/lib/languages/ruby";
import rust from "highlight.js/lib/languages/rust";
import shell from "highlight.js/lib/languages/shell";
import sql from "highlight.js/lib/languages/sql";
import swift from "highlight.js/lib/languages/swift";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";
import { stripControls } from "../../text/clean.ts";
import { type Line, type Role, type Span, span } from "../line.ts";
import { outputRow } from "../rows.ts";

// Loading this module costs some 20 ms: import it when there is code to draw.
const LANGUAGES = {
  bash,
  c,
  cpp,
  css,
  diff,
  dockerfile,
  go,
  ini,
  java,
  javascript,
  json,
  kotlin,
  makefile,
  markdown,
  php,
  python,
  ruby,
  rust,
  shell,
  sql,
  swift,
  typescript,
  xml,
  yaml,
};

// What people write on fences beside the names and aliases that highlight.js knows itself.
const MORE_ALIASES = {
  json: ["json5"],
  ini: ["conf", "env", "dotenv"],
  xml: ["vue"],
  css: ["scss", "less"],
};

// Some grammars take time with the square of what they read.
const MAX_CODE = 20_000;
const MAX_LINE = 2000;

/**
 * Colours code: as many lines as the code has, without control characters and with tabs as spaces. Undefined for a
 * language that is not known and for code that would take long; never throws.
 */
export const createHighlighter = (): ((code: string, language: string) => Line[] | undefined) => {
  const highlighter = core.newInstance();
  highlighter.configure({ __emitter: SpanEmitter });
  for (const [name, definition] of Object.entries(LANGUAGES)) highlighter.registerLanguage(name, definition);
  for (const [languageName, aliases] of Object.entries(MORE_ALIASES))
    highlighter.registerAliases(aliases, { languageName });
  return (code, language) => {
    const name = language.trim().toLowerCase();
    if (name === "" || code.length > MAX_CODE || highlighter.getLanguage(name) === undefined) return undefined;
    const lines = code.split("\n");
    if (lines.some((line) => line.length > MAX_LINE)) return undefined;
    const clean = lines.map((line) => outputRow(stripControls(line))).join("\n");
    const { _emitter: emitter, errorRaised } = highlighter.highlight(clean, { language: name, ignoreIllegals: true });
    return errorRaised === undefined && emitter instanceof SpanEmitter ? emitter.lines() : undefined;
  };
};

/** What highlight.js tells of the code, as spans in the order of the text; its own would make HTML of it. */
class SpanEmitter implements Emitter {
  readonly spans: Span[] = [];
  readonly #roles: (Role | undefined)[] = [];

  startScope(name: string): void {
    this.#roles.push(roleOf(name, this.#roles.at(-1)));
  }

  endScope(): void {
    this.#roles.pop();
  }

  // The library calls these two as well, though its types do not say so.
  openNode(name: string): void {
    this.startScope(name);
  }

  closeNode(): void {
    this.endScope();
  }

  addText(text: string): void {
    const role = this.#roles.at(-1);
    this.spans.push(role === undefined ? span(text) : span(text, role));
  }

  __addSublanguage(emitter: Emitter): void {
    if (emitter instanceof SpanEmitter) this.spans.push(...emitter.spans);
  }

  finalize(): void {}

  toHTML(): string {
    return "";
  }

  /** One line for each line of the code; neighbours of one role are one span. */
  lines(): Line[] {
    const lines: Span[][] = [[]];
    for (const { text, roles = [] } of this.spans)
      text.split("\n").forEach((part, index) => {
        if (index > 0) lines.push([]);
        if (part === "") return;
        const line = lines.at(-1) ?? [];
        const last = line.at(-1);
        if (last && last.roles?.[0] === roles[0]) line[line.length - 1] = { ...last, text: last.text + part };
        else line.push(span(part, ...roles));
      });
    return lines;
  }
}

/** A scope within another that says nothing of its own keeps the outer one's role, code in a string does not. */
const roleOf = (scope: string, outer: Role | undefined): Role | undefined => {
  switch (scope.split(".", 1)[0]) {
    case "keyword":
    case "selector-tag":
    case "selector-pseudo":
      return "keyword";
    case "string":
    case "regexp":
    case "char":
    case "link":
    case "code":
      return "string";
    case "number":
    case "literal":
    case "symbol":
    case "bullet":
      return "number";
    case "comment":
    case "quote":
    case "doctag":
    case "meta":
      return "comment";
    case "title":
    case "name":
    case "attr":
    case "attribute":
    case "built_in":
    case "type":
    case "variable":
    case "selector-class":
    case "selector-id":
    case "selector-attr":
      return "name";
    case "section":
    case "strong":
      return "bold";
    case "emphasis":
      return "italic";
    case "addition":
      return "added";
    case "deletion":
      return "removed";
    case "subst":
      return undefined;
    default:
      return outer;
  }
};
