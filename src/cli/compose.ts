import { rmSync } from "node:fs";
import { newSessionId, sessionFiles } from "../config/paths.ts";
import { Engine } from "../engine/engine.ts";
import type { RunInput } from "../engine/options.ts";
import type { LogFile } from "../logging/log-file.ts";
import { chooseProvider, type ProviderChoice } from "../providers/choose-provider.ts";
import { createListModels, createProvider } from "../providers/create-provider.ts";
import { createFetch } from "../providers/transport.ts";
import type { Ask } from "../schema/ask.ts";
import type { PermissionMode } from "../schema/event.ts";
import { type ModelInfo, UNKNOWN_MODEL } from "../schema/model.ts";
import type { JsonSchema } from "../schema/tool.ts";
import { loadInstructions } from "../session/instructions.ts";
import { Session, type Sink } from "../session/session.ts";
import { systemPrompt } from "../session/system-prompt.ts";
import { EXIT } from "../text/exit.ts";
import { localTime } from "../text/local-time.ts";
import { createMask } from "../text/mask.ts";
import { UserError } from "../text/user-error.ts";
import type { Registry } from "../tools/registry.ts";
import { createTools } from "./compose-tools.ts";
import { openLog } from "./open-log.ts";
import type { RunOptions } from "./program.ts";
import type { Setup } from "./setup.ts";

export type ComposeOptions = {
  readonly run: RunOptions;
  readonly chat: boolean;
  readonly systemPrompt?: string | undefined;
  readonly appendSystemPrompt?: string | undefined;
  readonly answer?: { readonly schema: JsonSchema; readonly stopping: RunInput["stopping"] } | undefined;
  /** Absent where no person can answer. */
  readonly ask?: Ask;
};

/** The machine below a front end. */
export type Machine = {
  readonly session: Session;
  readonly registry: Registry;
  readonly choice: ProviderChoice;
  readonly log: LogFile | null;
  /** What is good to know. */
  readonly notes: readonly string[];
  /** What is not as the person may expect. */
  readonly warnings: readonly string[];
  /** Ends what still runs and closes the files. Returns how many process groups it ended. */
  readonly close: () => Promise<number>;
  /** The last resort: no waiting. */
  readonly kill: () => void;
};

/** The composition root: the whole machine on one screen. @throws UserError */
export const compose = async (setup: Setup, options: ComposeOptions): Promise<Machine> => {
  const { workDir, env, paths, strings, config } = setup;
  const { settings } = config;
  const { run, ask } = options;
  const id = newSessionId(new Date(), Math.random);
  const files = sessionFiles(paths, id);

  const fetch = createFetch({ env });
  const choice = await chooseProvider({
    servers: setup.servers,
    credentials: setup.secrets.credentials,
    named: config.named,
    chat: options.chat,
    listModels: createListModels(fetch),
    overrides: settings.models,
    strings,
  });
  const info = modelInfo(choice);
  checkPrices(setup, choice, info);
  const provider = await createProvider(choice, {
    thinking: settings.thinking,
    effort: settings.effort,
    stream: settings.stream,
    cacheKey: id,
    attempts: settings.attempts,
    chat: options.chat,
    fetch,
    random: Math.random,
    strings,
  });

  const permissionMode = (): PermissionMode => settings.permissionMode ?? (options.chat ? "ask" : "auto");
  const { registry, bash } = createTools(setup, {
    outputsDir: files.outputs,
    info,
    permissionMode,
    guard: run.guard,
    ask,
  });
  const { log, warnings } = await openLog(setup, run, files.log);
  const mask = createMask(setup.secretValues);
  const engine = new Engine({
    provider,
    info,
    tools: registry,
    limits: {
      maxTurns: settings.maxTurns,
      toolTimeoutMs: settings.toolTimeoutMs,
      maxConcurrentTools: settings.maxConcurrentTools,
      maxCostUsd: settings.maxCostUsd ?? undefined,
      maxTokens: settings.maxTokens ?? undefined,
      maxTimeMs: settings.maxTimeMs ?? undefined,
    },
    thinking: settings.thinking,
    permissionMode,
    sandbox: "off",
    logFile: log?.path ?? null,
    session: { id, workDir },
    mask,
    strings: strings.engine,
    // The global performance object would load a dozen modules of node.
    now: () => Number(process.hrtime.bigint()) / 1e6,
    ask,
  });
  const instructions = loadInstructions(paths.instructions, workDir);
  const sinks: Sink[] = log ? [log.write] : [];
  const session = new Session({
    id,
    systemPrompt: systemPrompt({
      workDir,
      platform: process.platform,
      shell: "bash",
      date: localDate(new Date()),
      replace: options.systemPrompt,
      append: options.appendSystemPrompt,
      instructions: mask(instructions.text),
      answerSchema: options.answer?.schema,
    }),
    engine,
    sinks,
    clock: () => new Date(),
    stopping: options.answer?.stopping,
  });

  return {
    session,
    registry,
    choice,
    log,
    notes: choice.notes,
    warnings: [
      ...warnings,
      ...instructions.skipped.map((path) => strings.cli.instructionsSkipped(path)),
      ...instructions.cut.map((path) => strings.cli.instructionsCut(path)),
    ],
    close: async () => {
      const ended = await bash.close();
      if (!run.session) rmSync(files.outputs, { recursive: true, force: true });
      log?.close();
      return ended;
    },
    kill: bash.killAll,
  };
};

const modelInfo = (choice: ProviderChoice): ModelInfo => (choice.kind === "model" ? choice.info : UNKNOWN_MODEL);

const checkPrices = ({ config, strings }: Setup, choice: ProviderChoice, { prices }: ModelInfo): void => {
  if (config.settings.maxCostUsd === null || prices !== null || choice.kind === "offline") return;
  const model = `${choice.server.name}/${choice.model}`;
  throw new UserError(strings.cli.unknownPrice(model), {
    exitCode: EXIT.config,
    hint: strings.cli.unknownPriceHint(model),
  });
};

const localDate = (time: Date): string => {
  const { year, month, day } = localTime(time);
  return `${year}-${month}-${day}`;
};
