// What the scripted model does, chosen by a marker in the prompt: bench:hello, bench:tools:20, bench:reads:20, bench:par:8, bench:stream:20000.
// bench:stream:2000@200 is 2,000 tokens, 200 a second.

/**
 * @typedef {{ kind: "hello" | "tools" | "reads" | "par" | "stream", count: number, rate?: number }} Script `rate`: tokens a second
 * @typedef {{ id: string, tool: RegExp, arguments: Record<string, string>, expected: string }} Call
 *   `tool` fits the name of the agent's own tool. `expected` stands in a right result.
 * @typedef {{ calls: Call[] } | { tokens: Iterable<string>, count: number, rate?: number }} Reply
 */

const MARKER = /\bbench:(hello|tools|reads|par|stream)(?::(\d+))?(?:@(\d+))?/;
const WORDS = "the agent looks at a file then runs one small command and says in plain words what it has found".split(
  " ",
);

/** @returns {Script | null} the script that the prompt asks for */
export const findScript = (prompt) => {
  const found = MARKER.exec(prompt);
  return found && { kind: found[1], count: Number(found[2] ?? 1), ...(found[3] && { rate: Number(found[3]) }) };
};

/**
 * The model's answer number `round`, counted from 0.
 * @param {Script} script
 * @returns {Reply}
 */
export const replyOf = ({ kind, count, rate }, round) => {
  if (kind === "tools" && round < count) return { calls: [commandCall(round, 0)] };
  if (kind === "reads" && round < count) return { calls: [readCall(round)] };
  if (kind === "par" && round === 0)
    return { calls: Array.from({ length: count }, (_, index) => commandCall(0, index)) };
  if (kind === "stream") return { tokens: longText(count), count, rate };
  return { tokens: ["Hello", " from", " the", " model."], count: 4 };
};

/** The whole of the final answer. */
export const finalText = (script) => [...replyOf(script, Number.POSITIVE_INFINITY).tokens].join("").trim();

/** Requests and calls of a whole run. */
export const sizeOf = ({ kind, count }) => {
  if (kind === "par") return { requests: 2, calls: count };
  const turns = kind === "tools" || kind === "reads" ? count : 0;
  return { requests: turns + 1, calls: turns };
};

/** The files that bench:reads reads. */
export const noteFiles = (count) =>
  Array.from({ length: count }, (_, index) => ({ name: noteName(index), text: `${noteText(index)}\n`.repeat(40) }));

// No two calls are the same: a repeated call is a case of its own for an agent.
const commandCall = (round, index) => {
  const word = `step-${round + 1}-${index + 1}`;
  return { id: `call_${round}_${index}`, tool: /bash|shell/i, arguments: { command: `echo ${word}` }, expected: word };
};

const readCall = (round) => ({
  id: `call_${round}_0`,
  tool: /read/i,
  arguments: { path: noteName(round) },
  expected: noteText(round),
});

const noteName = (index) => `note-${index + 1}.md`;
const noteText = (index) => `This is a line of note ${index + 1}.`;

function* longText(count) {
  for (let at = 0; at < count; at++) yield at % 60 === 59 ? "end.\n\n" : `${WORDS[(at * 7) % WORDS.length]} `;
}
