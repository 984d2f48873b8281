import { stripControls } from "../../text/clean.ts";
import { visibleProse } from "../visible-prose.ts";

/** Cleans the text of a model while it comes; any division into pieces gives the same text. */
export interface Source {
  /** Returns what is settled: no control character but newline, no tab, no half of a surrogate pair, no U+2028. */
  push(delta: string): string;
  end(): string;
  clone(): Source;
}

const TAB_STOP = 4;
// A control sequence is removed as a whole; one that is longer loses its introducer only.
const MAX_SEQUENCE = 4096;
const INTRODUCER = /[\x1b\x90\x98\x9b\x9d-\x9f]/;

export const createSource = (): Source => sourceFrom({ waiting: "", column: 0 });

type State = { waiting: string; column: number };

const sourceFrom = (state: State): Source => ({
  push: (delta) => {
    const text = state.waiting + delta;
    const end = /[\ud800-\udbff]$/.test(text) ? text.length - 1 : text.length;
    const { settled, waiting } = stripSettled(text.slice(0, end));
    state.waiting = waiting + text.slice(end);
    return plain(state, settled);
  },
  end: () => plain(state, stripControls(state.waiting)),
  clone: () => sourceFrom({ ...state }),
});

/** From a control sequence on, the text waits for the end of its line, up to a limit. */
const stripSettled = (text: string): { readonly settled: string; readonly waiting: string } => {
  let settled = "";
  let rest = text;
  for (let at = rest.search(INTRODUCER); at >= 0; at = rest.search(INTRODUCER)) {
    const newline = rest.slice(at, at + MAX_SEQUENCE).indexOf("\n");
    const end = at + (newline < 0 ? MAX_SEQUENCE : newline);
    if (rest.length <= end) return { settled: settled + stripControls(rest.slice(0, at)), waiting: rest.slice(at) };
    settled += stripControls(rest.slice(0, at)) + stripControls(rest.slice(at, end));
    rest = rest.slice(end);
  }
  return { settled: settled + stripControls(rest), waiting: "" };
};

const plain = (state: State, text: string): string => {
  const lines = text.includes("\t") ? text.split("\n") : undefined;
  const expanded = lines?.map((line, at) => expandTabs(line, at === 0 ? state.column : 0)).join("\n") ?? text;
  const newline = expanded.lastIndexOf("\n");
  state.column = newline < 0 ? state.column + expanded.length : expanded.length - newline - 1;
  // U+2028 and U+2029 would end a line in some terminals; the lone half of a pair is no text.
  return visibleProse(expanded.replace(/[\u2028\u2029]/g, " ").replace(/\p{Cs}/gu, "\ufffd"));
};

const expandTabs = (line: string, column: number): string =>
  line.split("\t").reduce((before, part) => {
    const stop = TAB_STOP - ((column + before.length) % TAB_STOP);
    return before + " ".repeat(stop) + part;
  });
