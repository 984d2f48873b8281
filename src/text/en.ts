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
    cancelled: (name) => `Error executing ${name}: cancelled.`,
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
    failed: (provider, model, status, words) =>
      `${provider} (${model}): ${status === null ? "" : `HTTP ${status} `}${words}`,
    noWords: "the server gave no reason",
    htmlAnswer: "the server sent a web page, not the API's JSON",
    notJson: (quoted) => `the server's answer is not JSON: ${quoted}`,
    brokenEvent: (quoted) => `a piece of the stream is not JSON: ${quoted}`,
    brokenStream: "the stream broke off before it gave a finish reason",
    serverStopped: (reason) => `the server stopped the answer (${reason})`,
    emptyToolCalls: "the model announced tool calls but gave none",
    cancelled: "the request was cancelled",
    firstByteTimeout: (seconds) => `not a byte came within ${seconds}s`,
    silenceTimeout: (seconds) => `the stream stalled: nothing came for ${seconds}s`,
    unreachable: (origin, code) => `cannot reach ${origin} (${code})`,
    limitResets: (duration, time) => `the limit resets in ${duration} (${time}): too long to wait, so no retry`,
    hintKey: (variable) => `Check ${variable}: is the key right, and may it use this model?`,
    hintModel: (model, baseUrl) => `Check the model name ${model} (-m/--model) and the base URL ${baseUrl}`,
    hintBaseUrl: (baseUrl) => `Check the base URL: ${baseUrl}`,
    hintCertificate: "Behind a company proxy or with a self-signed certificate, name its CA file in NODE_EXTRA_CA_CERTS",
    hintNetwork: "Check the network, the base URL, and HTTP_PROXY / HTTPS_PROXY / NO_PROXY",
    hintQuota: "The quota or balance is used up and retrying will not help: top up, raise the limit, or choose another with --provider / -m",
    hintContext: "The context is larger than the model's window: compact it (/compact), start a new session, or choose a model with a larger window",
    hintLater: "Try again later, or choose another model with -m/--model",
    emptyContent: "(empty)",
    imageOmitted: (path) => `[image ${path}: this model takes no images]`,
    imageUnreadable: (path, reason) => `[image ${path} cannot be read: ${reason}]`,
    imageTooLarge: (path, bytes) => `[image ${path} is too large (${bytes} bytes) and was not sent]`,
    imagesOf: (toolCallId) => `[images that tool call ${toolCallId} returned]`,
    thoughtSoFar: (thought) => `[Your thoughts just now: act on them]\n${thought}`,
  },
  permission: {
    denied: (rule) => `denied by policy: ${rule}`,
    needsConfirmation: (reason) => `denied by policy: [needs confirmation] ${reason}`,
  },
  config: {
    notAFile: (path) => `${path}: not an ordinary file, or too large`,
    unreadable: (path, reason) => `${path}: cannot be read: ${reason}`,
    syntax: (path, line, reason) => `${path}:${line}: JSON syntax error: ${reason}`,
    notAnObject: (path, line) => `${path}:${line}: expected a JSON object`,
    invalid: (place, key, rule) => `${place}: ${key}: ${rule}`,
    unknownKey: (place, key, near) =>
      `${place}: unknown setting '${key}'${near[0] === undefined ? "" : `; did you mean '${near[0]}'?`}`,
    forbiddenInProject: (place, key) =>
      `${place}: ignored '${key}': a project's files may not set keys, addresses or telemetry`,
    loosensPermissions: (place, key) => `${place}: ignored '${key}': a project's files can only tighten permissions`,
    waitsForTrust: (place, key) => `${place}: ignored '${key}': this folder is not trusted (--trust trusts it)`,
    variableWaitsForTrust: (origin, name) =>
      `${origin}: ignored ${name}: this folder is not trusted (--trust trusts it)`,
    invalidBaseUrl: (origin, name) => `${origin}: ${name}: expected an http:// or https:// address`,
    emptyKey: "the key is empty or has a line break",
    unknownProvider: (name, near, known) =>
      `unknown provider '${name}'${near.length === 0 ? `; known: ${known.join(", ")}` : `; did you mean ${near.map((word) => `'${word}'`).join(" or ")}?`}`,
    missingKeyHint: (provider) => `or store it once with: harness9 config key ${provider}`,
    keyWithheld: (variable, keyOrigin, baseUrl, baseUrlOrigin) =>
      `${variable} from ${keyOrigin} is not sent to ${baseUrl}: that address comes from a less trusted place, ${baseUrlOrigin}`,
    keyWithheldHint: (keyVariable, baseUrlVariable) =>
      `Put ${keyVariable} into the same file, or set ${baseUrlVariable} in the environment`,
    modelNeeded: (provider, baseUrl, models) =>
      models.length === 0
        ? `name a model for ${provider} (${baseUrl}): the server lists none`
        : `name a model for ${provider} (${baseUrl}); it offers: ${models.join(", ")}`,
    modelsNotListed: (provider, baseUrl, reason) =>
      `name a model for ${provider}: the models of ${baseUrl} could not be listed: ${reason}`,
    modelHint: (provider) => `for example --model ${provider}/NAME`,
    unknownModel: (provider, model) => `${provider}/${model}: price and context window are unknown`,
    severalLocalModels: (provider, models) =>
      `the local server ${provider} offers several models; choose one with --model ${provider}/NAME: ${models.join(", ")}`,
  },
  headless: {
    schemaNotObject: "a JSON Schema must be an object",
    answerNotJson: (reason) => `the answer is not valid JSON: ${reason}`,
    answerMissesSchema: (problem) => `the answer does not match the JSON Schema: ${problem}`,
    correctAnswer: (problem) =>
      `Your answer does not match the required JSON Schema: ${problem}
Answer with one JSON value that is valid for the schema and nothing else.`,
    retrying: (attempt, maxAttempts, delay, reason) => `↻ ${reason}; try ${attempt} of ${maxAttempts} in ${delay}`,
    blocked: (names) => `tool calls were refused because nobody could confirm them, or by the guard: ${names}`,
  },
  cli: {
    waitingForStdin: "waiting for standard input; add </dev/null to go on without it",
    stdinTooLarge: (bytes) => `standard input is larger than ${bytes} bytes; put it in a file and name the path in the prompt`,
    stdinBinary: "standard input is not UTF-8 text; put it in a file and name the path in the prompt",
  },
  offline: {
    label: "offline demonstration (no model)",
    connect:
      "To connect a model, set ANTHROPIC_API_KEY or OPENAI_API_KEY, or use a local server as in --provider ollama",
    notUnderstood: "no model is connected, and the offline demonstration only knows fixed orders",
    help:
      "This is a demonstration without a model. These orders work:\n" +
      "  read README.md\n  write hello.txt: hi\n" +
      '  replace "old" with "new" in hello.txt\n  run ls -la\n' +
      "Join them with then, as in: write hello.txt: hi then run cat hello.txt",
    read: (path) => `read ${path}`,
    written: (path) => `wrote ${path}`,
    replaced: (path) => `edited ${path}`,
    ran: (command) => `ran ${command}`,
    done: (steps) => `Done: ${steps.join("; ")}.`,
    stopped: (step, done) =>
      `This step failed, and what follows it did not run: ${step}.${done.length === 0 ? "" : ` Done before: ${done.join("; ")}.`}`,
  },
};
