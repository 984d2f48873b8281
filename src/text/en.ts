import type { Strings } from "./zh.ts";

/** The catalogue in English. */
export const en: Strings = {
  registry: {
    unknownTool: (name, available) =>
      `Error: there is no tool named '${name}'.\nAvailable tools: ${available.join(", ") || "(none)"}`,
    executionFailed: (name, reason) => `Error executing ${name}: ${reason}`,
    argumentsNotJson: (reason, quoted) => `the arguments are not valid JSON: ${reason}\nreceived: ${quoted}`,
    argumentsInvalid: (problems) => `invalid arguments: ${problems}`,
    argumentProblem: (field, rule, received) => `${field}: ${rule} (received ${received})`,
    timedOut: (name, seconds) =>
      `Error executing ${name}: the tool ran longer than ${seconds}s and was stopped by the engine.`,
    cancelled: (name) => `Error executing ${name}: cancelled by the user.`,
  },
  files: {
    outside: (path) => `path '${path}' is outside the work directory`,
    sensitive: (path) => `path '${path}' is a protected sensitive path, access denied`,
    readCut: (bytes) => `\n\n...[too long: cut after the first ${bytes} bytes]...`,
    written: (bytes, path) => `Wrote ${bytes} bytes to file: ${path}`,
    edited: (path) => `Edited file: ${path}`,
  },
  bash: {
    emptyCommand: "Error: the command is an empty string",
    failed: (status, output) => `Command failed: ${status}\nOutput:\n${output}`,
    silent: "Command succeeded without output.",
    timedOut: (seconds) => `\n[Warning: the command ran longer than ${seconds}s and was terminated.]`,
    cut: (bytes, path) =>
      `...[output too long: ${bytes} bytes in the middle cut, head and tail kept; full output: ${path}]...`,
  },
  engine: {
    emptyOutput: "[the tool finished without output]",
    maxTurns: (turns) => `reached the maximum of ${turns} turns, stopped`,
    cancelled: (reason) => `cancelled: ${reason}`,
    callCancelled: "Error: the run was cancelled before this tool call finished.",
    callNotRun: "Error: the run ended before this tool call was executed.",
    callCut:
      "Error: the answer was cut at the output limit, so the arguments of this call are incomplete and it did not run. Make the call smaller (for example write in several steps) and try again.",
    emptyToolCalls: "the model announced tool calls but gave none",
    repeatedReminder: (name, times) =>
      `Reminder: ${name} has been called ${times} times with the same arguments and the same result. Try something else, or say what blocks you.`,
    repeatedCall: (times) => `the same call was repeated ${times} times despite a reminder, stopped`,
    repeatedQuestion: (name, times) =>
      `${name} has been called ${times} times with the same arguments and the same result. Go on?`,
    repeatedContinue: "go on",
    repeatedStop: "stop",
    answerCut: "The answer was cut at the output limit.",
    contentFiltered: "The answer was cut by a content filter.",
    refused: "The model refused to answer.",
    budgetCost: (limit) => `reached the cost limit (${limit}), stopped`,
    budgetTokens: (limit) => `reached the token budget (${limit}), stopped`,
    budgetTime: (limit) => `reached the time limit (${limit}), stopped`,
  },
  provider: {
    missingKey: (variable) => `Set the environment variable ${variable}`,
  },
  permission: {
    denied: (rule) => `denied by policy: ${rule}`,
    needsConfirmation: (reason) => `denied by policy: [needs confirmation] ${reason}`,
  },
  config: {},
  cli: {},
};
