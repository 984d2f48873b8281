import { type Line, span } from "../line.ts";
import { createWrapper, type WrapOptions, type Wrapper, wrapSpans } from "../wrap.ts";
import { type Frame, followed, type Leaf } from "./frame.ts";

/** Colours code, one line for each of its lines; undefined where the language is not known or not loaded. */
export type Highlight = (code: string, language: string) => readonly Line[] | undefined;

// What a line is may depend on the lines before it; on so many at most, so that long code costs no more by the line.
const MAX_CONTEXT = 24;
// A longer line is drawn while it comes, without colours.
const MAX_LINE = 4096;

/** Code, each line drawn when it is complete, and broken by cells where it is too wide. */
export const createCode = (frame: Frame, language: string, highlight: Highlight | undefined): Leaf =>
  codeFrom({ frame, language, highlight, context: [], line: "", wrapper: undefined });

type State = {
  frame: Frame;
  readonly language: string;
  readonly highlight: Highlight | undefined;
  readonly context: string[];
  line: string;
  /** Of a line that is too long to wait for. */
  wrapper: Wrapper | undefined;
};

const codeFrom = (state: State): Leaf => ({
  write: (text) => {
    if (state.wrapper !== undefined) return state.wrapper.push([span(text, ...state.frame.roles, "code")]);
    state.line += text;
    if (state.line.length <= MAX_LINE) return [];
    state.wrapper = createWrapper(options(state.frame));
    return state.wrapper.push([span(state.line, ...state.frame.roles, "code")]);
  },
  endLine: () => {
    const lines = state.wrapper?.end() ?? wrapSpans(coloured(state), options(state.frame));
    state.wrapper = undefined;
    state.line = "";
    state.frame = followed(state.frame);
    return lines;
  },
  end: () => [],
  clone: () => codeFrom({ ...state, context: [...state.context], wrapper: state.wrapper?.clone() }),
});

const options = ({ width, first, rest }: Frame): WrapOptions => ({ width, first, rest, breaking: "cells" });

const coloured = ({ line, language, highlight, context, frame }: State): Line => {
  if (language !== "") {
    context.push(line);
    if (context.length > MAX_CONTEXT) context.shift();
    const lines = highlight?.(context.join("\n"), language);
    const last = lines?.[context.length - 1];
    if (last !== undefined) return last.map(({ text, roles = [] }) => span(text, ...frame.roles, "code", ...roles));
  }
  return line === "" ? [] : [span(line, ...frame.roles, "code")];
};
