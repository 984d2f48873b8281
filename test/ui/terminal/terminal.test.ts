import { EventEmitter } from "node:events";
import { describe, expect, test, vi } from "vitest";
import type { KeyInput } from "../../../src/ui/terminal/keys.ts";
import { openTerminal } from "../../../src/ui/terminal/terminal.ts";
import { type DrawnTerminal, drawnTerminal } from "../../helpers/drawn-terminal.ts";

const BEGIN = "\x1b[?2004h\x1b[>1u";
const END = "\x1b[<u\x1b[?2004l\x1b[?2026l\x1b[?25h\x1b[0m";

/** A terminal's input, and what was asked of it. */
const createInput = () => {
  const calls: string[] = [];
  const input = Object.assign(new EventEmitter(), {
    setRawMode: (isRaw: boolean) => calls.push(isRaw ? "raw" : "cooked"),
    resume: () => calls.push("resume"),
    pause: () => calls.push("pause"),
  });
  return { input, calls };
};

const open = ({
  drawn = drawnTerminal(40, 10),
  suspend = async () => undefined,
}: {
  readonly drawn?: DrawnTerminal;
  readonly suspend?: () => Promise<void>;
} = {}) => {
  const { input, calls } = createInput();
  const keys: KeyInput[] = [];
  const happened: string[] = [];
  const terminal = openTerminal({
    input,
    output: drawn.output,
    onKey: (key) => keys.push(key),
    onResize: () => happened.push("resize"),
    onLost: () => happened.push("lost"),
    suspend,
  });
  const written = (): string => drawn.takeWrites().join("");
  return { terminal, drawn, input, calls, keys, happened, written };
};

describe("a terminal", () => {
  test("is raw with bracketed paste while we have it, and as it was afterwards", () => {
    const { terminal, input, calls, written } = open();
    expect(written()).toBe(BEGIN);
    expect(calls).toEqual(["raw", "resume"]);
    terminal.release();
    expect(written()).toMatch(new RegExp(`${END.replace(/[[?]/g, "\\$&")}$`));
    expect(calls).toEqual(["raw", "resume", "pause", "cooked"]);
    expect(input.listenerCount("data")).toBe(0);
  });

  test("is released and acquired once, however often that is asked for", () => {
    const { terminal, calls, written } = open();
    terminal.acquire();
    terminal.release();
    written();
    terminal.release();
    expect(written()).toBe("");
    expect(calls).toEqual(["raw", "resume", "pause", "cooked"]);
  });

  test("that has gone while it is released is no error", () => {
    const { terminal, input } = open();
    input.setRawMode = () => {
      throw new Error("EIO");
    };
    expect(() => terminal.release()).not.toThrow();
  });

  test("gives its keys, and none while another program has it", () => {
    const { terminal, input, keys } = open();
    input.emit("data", Buffer.from("a"));
    terminal.release();
    input.emit("data", Buffer.from("b"));
    terminal.acquire();
    input.emit("data", Buffer.from("c"));
    expect(keys).toEqual([
      { type: "text", text: "a" },
      { type: "text", text: "c" },
    ]);
  });

  test("has our title until we let go of it, and again after that", () => {
    const { terminal, written } = open();
    written();
    terminal.setTitle("harness9: \x1b]0;evil\x07fix  it\n");
    expect(written()).toBe("\x1b[22;0t\x1b]0;harness9: fix it \x07");
    terminal.setTitle("? harness9");
    expect(written()).toBe("\x1b]0;? harness9\x07");
    terminal.setTitle("? harness9");
    expect(written()).toBe("");
    terminal.release();
    expect(written()).toContain("\x1b[23;0t");
    terminal.acquire();
    expect(written()).toContain("\x1b[22;0t\x1b]0;? harness9\x07");
    terminal.setTitle("");
    expect(written()).toBe("\x1b[23;0t");
    terminal.release();
    expect(written()).not.toContain("\x1b[23;0t");
  });

  test("puts a text into the clipboard", () => {
    const { terminal, written } = open();
    written();
    terminal.copy("你好");
    expect(written()).toBe(`\x1b]52;c;${Buffer.from("你好").toString("base64")}\x07`);
  });

  test("that is suspended takes the region away, and draws it again when the shell lets go on", async () => {
    const drawn = drawnTerminal(40, 10);
    const { terminal, calls } = open({
      drawn,
      suspend: async () => {
        expect(await drawn.rows()).toEqual(["one"]);
        drawn.writeElsewhere("$ fg\r\n");
      },
    });
    terminal.screen.print(["one"]);
    terminal.screen.draw({ rows: ["› x"], cursor: { row: 0, column: 3 } });
    terminal.screen.flush();
    await terminal.suspend();
    terminal.screen.flush();
    expect(await drawn.rows()).toEqual(["one", "$ fg", "› x"]);
    expect(calls).toEqual(["raw", "resume", "pause", "cooked", "raw", "resume"]);
  });

  test("is suspended once, however often the key comes before it stops", async () => {
    let suspended = 0;
    const { terminal, calls } = open({
      suspend: async () => {
        suspended += 1;
      },
    });
    await Promise.all([terminal.suspend(), terminal.suspend()]);
    expect(suspended).toBe(1);
    expect(calls).toEqual(["raw", "resume", "pause", "cooked", "raw", "resume"]);
  });

  test("tells of the last of many sizes, also while another program has it, and of being lost", async () => {
    const { terminal, drawn, input, happened } = open();
    for (let size = 0; size < 5; size += 1) drawn.output.emit("resize");
    await vi.waitFor(() => expect(happened).toEqual(["resize"]));
    terminal.release();
    drawn.output.emit("resize");
    await vi.waitFor(() => expect(happened).toEqual(["resize", "resize"]));
    input.emit("close");
    drawn.output.emit("error");
    expect(happened).toEqual(["resize", "resize", "lost", "lost"]);
  });
});
