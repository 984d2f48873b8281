import { rmSync } from "node:fs";
import { newSessionId, sessionFiles } from "../config/paths.ts";
import { Engine } from "../engine/engine.ts";
import type { LogFile } from "../logging/log-file.ts";
import type { ProviderChoice } from "../providers/choose-provider.ts";
import { createProvider } from "../providers/create-provider.ts";
import type { LLMProvider } from "../providers/provider.ts";
import { createFetch, type Fetch } from "../providers/transport.ts";
import type { Ask } from "../schema/ask.ts";
import type { PermissionMode, ThinkingMode } from "../schema/event.ts";
import type { JsonSchema } from "../schema/tool.ts";
import { type Instructions, loadInstructions } from "../session/instructions.ts";
import type { JournalFile } from "../session/journal-file.ts";
import { Session, type Sink, type StopCheck } from "../session/session.ts";
import { systemPrompt } from "../session/system-prompt.ts";
import { localTime } from "../text/local-time.ts";
import { createMask, type Mask } from "../text/mask.ts";
import type { Registry } from "../tools/registry.ts";
import { modelInfo } from "./choose-model.ts";
import { openHooks } from "./compose-hooks.ts";
import { createTools } from "./compose-tools.ts";
import { openJournal } from "./open-journal.ts";
import { openLog } from "./open-log.ts";
import { createPersonShell } from "./person-shell.ts";
import type { RunOptions } from "./program.ts";
import type { OpenedPast } from "./resume.ts";
import { chooseAgain, modeOf, thinkingOf } from "./resume-choice.ts";
import { sessionSandbox } from "./sandbox.ts";
import { say } from "./say.ts";
import type { Setup } from "./setup.ts";

export type ComposeOptions = {
  readonly run: RunOptions;
  readonly chat: boolean;
  /** Of the program. */
  readonly version: string;
  readonly systemPrompt?: string | undefined;
  readonly appendSystemPrompt?: string | undefined;
  readonly answer?: { readonly schema: JsonSchema; readonly stopping: StopCheck } | undefined;
  /** Absent where no person can answer. */
  readonly ask?: Ask;
  /** Absent for a new session. */
  readonly past?: OpenedPast | undefined;
};

/** The machine below a front end, for one session. */
export type Machine = {
  readonly session: Session;
  readonly registry: Registry;
  readonly choice: ProviderChoice;
  readonly journal: JournalFile | null;
  readonly log: LogFile | null;
  /** What is good to know. */
  readonly notes: readonly string[];
  /** What is not as the person may expect. */
  readonly warnings: readonly string[];
  /** Another model, or another way of thinking, from the next run on. */
  readonly use: (choice: ProviderChoice, thinking: ThinkingMode) => Promise<void>;
  /** Ends what still runs and closes the files. Returns how many process groups it ended. */
  readonly close: () => Promise<number>;
  /** The last resort: no waiting. */
  readonly kill: () => void;
};

/** The whole machine for one run. @throws UserError */
export const compose = async (setup: Setup, options: ComposeOptions): Promise<Machine> => {
  const fetch = createFetch(setup);
  const last = options.past?.last;
  const mode = modeOf(setup, last, ["yolo"]) ?? "auto";
  const { choice, warnings } = await chooseAgain(setup, last, { chat: options.chat, fetch });
  const machine = await openMachine(setup, {
    ...options,
    fetch,
    choice,
    thinking: thinkingOf(setup, last),
    permissionMode: () => mode,
    mask: createMask(setup.secretValues),
    tell: say,
  });
  const isUnusual = last?.mode === mode && mode !== (setup.config.settings.permissionMode ?? "auto");
  return {
    ...machine,
    notes: [...machine.notes, ...(isUnusual ? [setup.strings.sessions.goesOnIn(mode)] : [])],
    warnings: [...warnings, ...machine.warnings],
  };
};

export type MachineOptions = ComposeOptions & {
  readonly fetch: Fetch;
  readonly choice: ProviderChoice;
  readonly thinking: ThinkingMode;
  readonly permissionMode: () => PermissionMode;
  readonly mask: Mask;
  /** Hears of what goes wrong beside the run. */
  readonly tell: (text: string) => void;
};

/** The composition root: all that one session is made of, on one screen. @throws UserError */
export const openMachine = async (setup: Setup, options: MachineOptions): Promise<Machine> => {
  const { workDir, paths, strings, config } = setup;
  const { settings } = config;
  const { run, ask, mask, permissionMode, past } = options;
  const id = past?.id ?? newSessionId(new Date(), Math.random);
  const files = sessionFiles(paths, id);

  const connect = (choice: ProviderChoice, thinking: ThinkingMode): Promise<LLMProvider> =>
    createProvider(choice, {
      thinking,
      effort: settings.effort,
      stream: settings.stream,
      cacheKey: id,
      attempts: settings.attempts,
      chat: options.chat,
      fetch: options.fetch,
      random: Math.random,
      strings,
    });
  // The sandbox is tried while the provider's modules are loaded.
  const [provider, sandbox] = await Promise.all([
    connect(options.choice, options.thinking),
    sessionSandbox(setup, files.outputs),
  ]);
  const hooks = openHooks(setup, { id, mask });
  const { registry, personal, bash, fitModel } = createTools(setup, {
    outputsDir: files.outputs,
    info: modelInfo(options.choice),
    permissionMode,
    guard: run.guard,
    ask,
    sandbox,
    withHooks: hooks?.around,
  });
  const { log, warnings } = await openLog(setup, run, files.log, options.tell);
  const createEngine = (model: LLMProvider, choice: ProviderChoice, thinking: ThinkingMode): Engine =>
    new Engine({
      provider: model,
      info: modelInfo(choice),
      tools: registry,
      limits: {
        maxTurns: settings.maxTurns,
        toolTimeoutMs: settings.toolTimeoutMs,
        maxConcurrentTools: settings.maxConcurrentTools,
        maxCostUsd: settings.maxCostUsd ?? undefined,
        maxTokens: settings.maxTokens ?? undefined,
        maxTimeMs: settings.maxTimeMs ?? undefined,
      },
      thinking,
      permissionMode,
      sandbox: sandbox?.name ?? "off",
      logFile: log?.path ?? null,
      session: { id, workDir },
      mask,
      strings: strings.engine,
      now,
      ask,
    });
  const { prompt, instructions } = promptOf(setup, options);
  const { journal, warnings: journalWarnings } = await openJournal(setup, {
    id,
    files,
    version: options.version,
    systemPrompt: prompt,
    past,
    isWanted: run.session,
    tell: options.tell,
  });
  const sinks: Sink[] = [journal, log].flatMap((file) => file?.write ?? []);
  const session = new Session({
    id,
    systemPrompt: prompt,
    past,
    engine: createEngine(provider, options.choice, options.thinking),
    sinks,
    clock: () => new Date(),
    lifecycle: {
      started: hooks?.lifecycle.started,
      prompted: hooks?.lifecycle.prompted,
      stopping: () => oneAfterTheOther(options.answer?.stopping, hooks?.lifecycle.stopping()),
    },
    permissionMode,
    shell: createPersonShell({ tools: personal, session: { id, workDir }, mask, strings, now }),
  });

  return {
    session,
    registry,
    choice: options.choice,
    journal,
    log,
    notes: options.choice.notes,
    warnings: [
      ...warnings,
      ...journalWarnings,
      ...instructions.skipped.map((path) => strings.cli.instructionsSkipped(path)),
      ...instructions.cut.map((path) => strings.cli.instructionsCut(path)),
    ],
    use: async (choice, thinking) => {
      const model = await connect(choice, thinking);
      fitModel(modelInfo(choice));
      session.use(createEngine(model, choice, thinking));
    },
    close: async () => {
      await hooks?.lifecycle.ended(options.tell);
      const ended = await bash.close();
      if (!run.session) rmSync(files.outputs, { recursive: true, force: true });
      log?.close();
      journal?.close();
      return ended;
    },
    kill: () => {
      hooks?.kill();
      bash.killAll();
    },
  };
};

/** What the model is told first: the same bytes as before where a session goes on, unless something else is asked for. */
const promptOf = (
  { paths, workDir }: Setup,
  { systemPrompt: replace, appendSystemPrompt: append, answer, past, mask }: MachineOptions,
): { readonly prompt: string; readonly instructions: Pick<Instructions, "skipped" | "cut"> } => {
  const before = past?.messages.find(({ role }) => role === "system")?.content;
  if (before !== undefined && [replace, append, answer].every((asked) => asked === undefined))
    return { prompt: before, instructions: { skipped: [], cut: [] } };
  const instructions = loadInstructions(paths.instructions, workDir);
  const prompt = systemPrompt({
    workDir,
    platform: process.platform,
    shell: "bash",
    date: localDate(new Date()),
    replace,
    append,
    instructions: mask(instructions.text),
    answerSchema: answer?.schema,
  });
  return { prompt, instructions };
};

/** The first check that sends the model back does. */
const oneAfterTheOther =
  (...checks: readonly (StopCheck | undefined)[]): StopCheck =>
  async (answer, context) => {
    for (const check of checks) {
      const more = await check?.(answer, context);
      if (more) return more;
    }
    return undefined;
  };

// The global performance object would load a dozen modules of node.
const now = (): number => Number(process.hrtime.bigint()) / 1e6;

const localDate = (time: Date): string => {
  const { year, month, day } = localTime(time);
  return `${year}-${month}-${day}`;
};
