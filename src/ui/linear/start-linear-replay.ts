import { type Line, span } from "../line.ts";
import { createSessionNote, replayHeader } from "../replay-info.ts";
import type { RunningReplay, StartReplayOptions } from "../start-replay.ts";
import { marked } from "../transcript/paper.ts";
import { createShower } from "../view/replay.ts";
import type { Scribe } from "../view/scribe.ts";
import { createLineOutput } from "./line-output.ts";
import { linearStrings, wordGlyphs } from "./linear-words.ts";
import { createNarrator } from "./narrator.ts";

/** The replay for screen readers and terminals that can do nothing: plain lines out; Ctrl+C ends it. */
export const startReplay = (options: StartReplayOptions): RunningReplay => {
  const { player, settings, signal } = options;
  const strings = linearStrings(options.strings);
  const glyphs = wordGlyphs(strings.linear);
  const output = createLineOutput(options.output);
  const narrator = createNarrator({
    width: () => output.width,
    glyphs,
    strings,
    showsThinking: () => settings.showThinking,
  });
  const print = (lines: readonly Line[]): void => output.print(lines);
  const scribe: Scribe = {
    take: (event) => print(narrator.take(event)),
    add: (block) => print(narrator.tell(block)),
    say: print,
    restart: narrator.restart,
    settle: narrator.settle,
    flush: () => undefined,
  };
  const note = (text: string): void => print(marked(glyphs.notice, text, { width: output.width, role: "accent" }));

  let wasLeft = false;
  const leave = (): void => {
    wasLeft = true;
    player.stop();
  };
  signal.addEventListener("abort", leave, { once: true });
  options.onInterrupt(() => {
    output.rowBegun();
    leave();
    return true;
  });
  for (const event of ["error", "close"] as const) options.output.on(event, leave);

  const play = async (): Promise<"played" | "left"> => {
    print(replayHeader(options.title, { width: output.width, glyphs, strings: strings.replay }));
    print([[span(strings.replay.linearKeys)]]);
    const show = createShower(scribe);
    const sessionNote = createSessionNote(strings.replay);
    for await (const event of player.events) {
      const begins = sessionNote(event);
      if (begins !== undefined) note(begins);
      show(event);
    }
    const problem = options.problem();
    if (problem !== undefined) scribe.add({ type: "notice", level: "warning", text: problem });
    note(wasLeft ? strings.replay.left : strings.replay.over);
    return wasLeft ? "left" : "played";
  };

  const release = (): void => output.endRow();
  return { ended: play().finally(release), release };
};
