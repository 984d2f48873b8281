import { type Line, span } from "../line.ts";
import { createWrapper, type Wrapper } from "../wrap.ts";
import { type Frame, followed, type Leaf } from "./frame.ts";

/** HTML as it is written, line by line. */
export const createHtml = (frame: Frame): Leaf => htmlFrom({ frame, wrapper: createWrapper(frame) });

const htmlFrom = (state: { frame: Frame; wrapper: Wrapper }): Leaf => ({
  write: (text) => state.wrapper.push([span(text, ...state.frame.roles)]),
  endLine: (): Line[] => {
    const lines = state.wrapper.end();
    state.frame = followed(state.frame);
    state.wrapper = createWrapper(state.frame);
    return lines;
  },
  end: () => [],
  clone: () => htmlFrom({ frame: state.frame, wrapper: state.wrapper.clone() }),
});
