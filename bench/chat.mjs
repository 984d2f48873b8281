// The chat in a terminal: how soon it shows a typed key, at rest and while an answer comes, and what that costs.

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { spawn } from "@lydell/node-pty";
import { finalText, findScript } from "./scenarios.mjs";

/**
 * @typedef {{ readyMs: number, promptRssMb: number }} Start from the program's start to the first typed key on the screen
 * @typedef {{ echoMs: number[], echoP95Ms: number, streamEchoMs: number[], streamEchoP95Ms: number, streamCpu: number,
 *   bytesPerChar: number, idleBytes: number, idleCpuMs: number }} Conversation
 *   `streamCpu`: the share of a core; the echoes' single figures stand in their arrays
 */

const FLOOR = fileURLToPath(new URL("floor-chat.cjs", import.meta.url));
// Neither in a first screen nor in an answer.
const KEY = "Ñ";
const BACKSPACE = "\x7f";
const RATE = 200;
const ECHOES = 30;
const IDLE_MS = 3000;
const TIMEOUT_MS = 30_000;
const SEQUENCES = /\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[<=>78cDEHM])/g;

/**
 * Starts in turn as often as `runs` says, then one conversation of each.
 * @returns {Promise<Record<"harness9" | "floor", Record<string, number[]>>>} samples by program and measure
 */
export const measureChat = async (runs, place) => {
  const programs = [
    { name: "harness9", command: [process.execPath, place.bin, "--provider", "openai"] },
    { name: "floor", command: [process.execPath, FLOOR] },
  ];
  const samples = Object.fromEntries(programs.map(({ name }) => [name, {}]));
  const add = (name, figures) => {
    for (const [measure, value] of Object.entries(figures))
      samples[name][measure] = [...(samples[name][measure] ?? []), ...[value].flat()];
  };
  for (let round = -1; round < runs; round++)
    for (const program of round % 2 === 0 ? programs : programs.toReversed()) {
      const figures = await measureStart(program, place);
      if (round >= 0) add(program.name, figures);
    }
  for (const program of programs) add(program.name, await measureConversation(program, place));
  return samples;
};

/** @returns {Promise<Start>} */
const measureStart = async (program, place) => {
  const terminal = open(program, place);
  try {
    const readyMs = await terminal.typeUntilShown();
    await terminal.quiet();
    return { readyMs, promptRssMb: terminal.memoryMb() };
  } finally {
    await terminal.close();
  }
};

/** @returns {Promise<Conversation>} */
const measureConversation = async (program, place) => {
  const terminal = open(program, place);
  try {
    await terminal.typeUntilShown();
    await terminal.quiet();
    for (let count = 0; count < 100; count++) terminal.send(BACKSPACE);
    await terminal.quiet();
    const idle = terminal.usage();
    await sleep(IDLE_MS);
    const afterIdle = terminal.usage();
    const echoMs = await terminal.echoes(ECHOES);

    const { text } = say(terminal, 10 * RATE);
    const beganAt = await terminal.shown("the ");
    const began = terminal.usage();
    const endedAt = await terminal.quiet();
    const ended = terminal.usage();

    say(terminal, 8 * RATE);
    await terminal.shown("the ");
    const streamEchoMs = await terminal.echoes(ECHOES);
    return {
      idleBytes: afterIdle.bytes - idle.bytes,
      idleCpuMs: afterIdle.cpuMs - idle.cpuMs,
      echoMs,
      echoP95Ms: p95(echoMs),
      streamEchoMs,
      streamEchoP95Ms: p95(streamEchoMs),
      streamCpu: (ended.cpuMs - began.cpuMs) / (endedAt - beganAt),
      bytesPerChar: (ended.bytes - began.bytes) / text.length,
    };
  } finally {
    await terminal.close();
  }
};

/** Asks for an answer of so many tokens at the rate. */
const say = (terminal, tokens) => {
  const prompt = `bench:stream:${tokens}@${RATE} Talk.`;
  terminal.mark();
  terminal.send(prompt);
  terminal.send("\r");
  terminal.mark();
  return { text: finalText(findScript(prompt)) };
};

/** A program in a pseudo-terminal. The kernel's own echo is off, so only the program can show a key. */
const open = ({ name, command }, { workDir, env }) => {
  const child = spawn("/bin/sh", ["-c", 'stty -echo; echo go; exec "$@"', "sh", ...command], {
    name: "xterm-256color",
    cols: 120,
    rows: 40,
    cwd: workDir,
    env: { ...env, COLORTERM: "truecolor", LANG: "C.UTF-8" },
  });
  let bytes = 0;
  let since = "";
  let lastAt = performance.now();
  let hasExited = false;
  let look = () => {};
  child.onData((text) => {
    bytes += Buffer.byteLength(text);
    lastAt = performance.now();
    // A sequence that is still to end must not be taken for text.
    since = (since + text).slice(-200_000);
    // What a terminal answers at once, and a program may wait for.
    if (text.includes("\x1b[c")) child.write("\x1b[?62;22c");
    if (text.includes("\x1b[6n")) child.write("\x1b[1;1R");
    look();
  });
  const exited = new Promise((resolve) =>
    child.onExit((end) => {
      hasExited = true;
      look();
      resolve(end);
    }),
  );
  const visible = () => since.replace(SEQUENCES, "");
  const mark = () => {
    since = "";
  };
  /** The time at which the text stood in what was written since the mark. */
  const shown = (text) =>
    new Promise((resolve, reject) => {
      const fail = (how) => reject(new Error(`${name}: ${how} before "${text}": ${visible().slice(-500)}`));
      const timer = setTimeout(() => fail("time went by"), TIMEOUT_MS);
      look = () => {
        const isThere = visible().includes(text);
        if (!isThere && !hasExited) return;
        clearTimeout(timer);
        look = () => {};
        if (isThere) resolve(lastAt);
        else fail("it ended");
      };
      look();
    });
  return {
    mark,
    shown,
    send: (keys) => child.write(keys),
    /** Types from the very start. @returns milliseconds until the first key is shown */
    typeUntilShown: async () => {
      const startedAt = await shown("go");
      mark();
      const timer = setInterval(() => child.write(KEY), 20);
      try {
        return (await shown(KEY)) - startedAt;
      } finally {
        clearInterval(timer);
      }
    },
    /** Milliseconds until each of so many keys was shown. */
    echoes: async (count) => {
      const times = [];
      for (let index = 0; index < count; index++) {
        mark();
        const sentAt = performance.now();
        child.write(KEY);
        times.push((await shown(KEY)) - sentAt);
        // Out of step with frames and tokens.
        await sleep(60 + (index % 7) * 9);
        child.write(BACKSPACE);
        await sleep(60);
      }
      return times;
    },
    /** Waits until nothing has been written for half a second. @returns when something was written last */
    quiet: async () => {
      const from = performance.now();
      while (performance.now() - Math.max(from, lastAt) < 500) {
        if (performance.now() - from > TIMEOUT_MS) throw new Error(`${name}: does not come to rest`);
        await sleep(50);
      }
      return lastAt;
    },
    usage: () => ({ bytes, cpuMs: cpuMs(child.pid) }),
    memoryMb: () => Number(processFigure(child.pid, "rss")) / 1024,
    close: async () => {
      if (!hasExited) child.kill("SIGKILL");
      await exited;
    },
  };
};

const processFigure = (pid, figure) =>
  execFileSync("ps", ["-o", `${figure}=`, "-p", String(pid)])
    .toString()
    .trim();

/** User and system time of a process; to the hundredth of a second. */
const cpuMs = (pid) => {
  if (process.platform === "linux") {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ");
    return (Number(fields[11]) + Number(fields[12])) * 10;
  }
  const [seconds, minutes = 0, hours = 0] = processFigure(pid, "time").split(":").toReversed().map(Number);
  return ((hours * 60 + minutes) * 60 + seconds) * 1000;
};

const p95 = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length * 0.95)];
