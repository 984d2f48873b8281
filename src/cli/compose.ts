import { rmSync } from "node:fs";
import { newSessionId, sessionFiles } from "../config/paths.ts";
import type { BudgetState } from "../engine/budget.ts";
import { Engine } from "../engine/engine.ts";
import type { LogFile } from "../logging/log-file.ts";
import type { ProviderChoice } from "../providers/choose-provider.ts";
import { createProvider } from "../providers/create-provider.ts";
import type { LLMProvider } from "../providers/provider.ts";
import { createFetch, type Fetch } from "../providers/transport.ts";
import type { Ask } from "../schema/ask.ts";
import type { PermissionMode, ThinkingMode } from "../schema/event.ts";
import type { JsonSchema } from "../schema/tool.ts";
import { type Instructions, loadInstructions, NO_INSTRUCTIONS } from "../session/instructions.ts";
import type { JournalFile } from "../session/journal-file.ts";
import { Session, type Sink, type StopCheck } from "../session/session.ts";
import { systemPrompt } from "../session/system-prompt.ts";
import { isRestoreInterrupted } from "../session/turns.ts";
import { localTime } from "../text/local-time.ts";
import { createMask, type Mask } from "../text/mask.ts";
import type { Registry } from "../tools/registry.ts";
import { modelInfo } from "./choose-model.ts";
import { openHooks } from "./compose-hooks.ts";
import { createTools } from "./compose-tools.ts";
import { type FileHistory, openFileHistory } from "./file-history.ts";
import { openJournal } from "./open-journal.ts";
import { openLog } from "./open-log.ts";
import { createPersonShell } from "./person-shell.ts";
import type { RunOptions } from "./program.ts";
import { createRecorder, type Recorder } from "./record.ts";
import type { Answers } from "./record-answers.ts";
import type { OpenedPast } from "./resume.ts";
import { chooseAgain, earlierOutputs, modeOf, thinkingOf } from "./resume-choice.ts";
import { sessionSandbox } from "./sandbox.ts";
import { say } from "./say.ts";
import { retainSessions } from "./sessions-retention.ts";
import type { Setup } from "./setup.ts";
import { openSkills, type SessionSkills, skillWarnings } from "./skills.ts";
import { sessionBudget } from "./usage-budget.ts";

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
  /** Null where the states of the files are not kept. */
  readonly files: FileHistory | null;
  readonly log: LogFile | null;
  /** What the session may spend, and has spent. */
  readonly budget: () => readonly BudgetState[];
  /** What is good to know. */
  readonly notes: readonly string[];
  /** What is not as the person may expect. */
  readonly warnings: readonly string[];
  /** The files that stand in the system prompt; none where the session goes on with its old one. */
  readonly instructions: Instructions;
  readonly skills: SessionSkills;
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
  const answers = await answersFor(setup, options.run, say);
  const { choice, warnings } = answers ?? (await chooseAgain(setup, last, { chat: options.chat, fetch }));
  const recorder = createRecorder(options.run, { version: options.version, setup: () => setup, tell: say });
  const machine = await openMachine(setup, {
    ...options,
    fetch,
    choice,
    answers,
    recorder,
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
    close: async () => {
      const ended = await machine.close();
      recorder?.close();
      return ended;
    },
  };
};

/** What `--answers` asks for. Loaded for itself: few sessions play another one. @throws UserError */
export const answersFor = async (
  setup: Setup,
  { answers }: RunOptions,
  tell: (text: string) => void,
): Promise<Answers | undefined> =>
  answers === undefined ? undefined : (await import("./record-answers.ts")).readAnswers(setup, answers, tell);

export type MachineOptions = ComposeOptions & {
  readonly fetch: Fetch;
  readonly choice: ProviderChoice;
  /** Recorded ones, for their own choice. */
  readonly answers?: Answers | undefined;
  readonly recorder?: Recorder | undefined;
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

  const connect = async (choice: ProviderChoice, thinking: ThinkingMode): Promise<LLMProvider> => {
    if (options.answers?.choice === choice) return options.answers.provider;
    return createProvider(choice, {
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
  };
  // The sandbox is tried while the provider's modules are loaded.
  const [provider, sandbox, foundSkills] = await Promise.all([
    connect(options.choice, options.thinking),
    sessionSandbox(setup, files.outputs),
    openSkills(setup),
  ]);
  const fileHistory = openFileHistory(setup, {
    isWanted: run.session,
    tellsAll: options.chat,
    // Made after the tools, and asked only when they run.
    session: () => session,
    tell: options.tell,
  });
  const hooks = openHooks(setup, { id, mask });
  const { registry, personal, bash, fitModel, ...tooled } = createTools(setup, {
    outputsDir: files.outputs,
    earlierOutputs: earlierOutputs(paths, past),
    info: modelInfo(options.choice),
    permissionMode,
    guard: run.guard,
    ask,
    sandbox,
    withHooks: hooks?.around,
    checkpoint: fileHistory?.middleware,
    skills: foundSkills,
    mask,
  });
  const skills: SessionSkills = { ...tooled.skills, waiting: foundSkills.waiting };
  const { log, warnings } = await openLog(setup, run, files.log, options.tell);
  const budget = sessionBudget(settings, past?.totals, strings.usage);
  const createEngine = (model: LLMProvider, choice: ProviderChoice, thinking: ThinkingMode): Engine =>
    new Engine({
      provider: model,
      info: modelInfo(choice),
      tools: registry,
      limits: {
        maxTurns: settings.maxTurns,
        toolTimeoutMs: settings.toolTimeoutMs,
        maxConcurrentTools: settings.maxConcurrentTools,
        maxTimeMs: settings.maxTimeMs ?? undefined,
      },
      budget: budget.budget,
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
  const { prompt, instructions } = promptOf(setup, options, skills);
  const { journal, warnings: journalWarnings } = await openJournal(setup, {
    id,
    files,
    version: options.version,
    systemPrompt: prompt,
    past,
    isWanted: run.session,
    tell: options.tell,
  });
  const tools = registry.getAvailableTools().map(({ name }) => name);
  const recording = options.recorder?.begin({ provider: provider.name, model: provider.model, tools });
  // What takes a while begins while the permissions of the calls are loaded.
  const getReady: Sink = (event) => {
    const called =
      event.type === "message.completed" ? event.message.toolCalls.map(({ name }) => registry.find(name)) : [];
    if (called.some((tool) => tool && tool.permission !== "low")) fileHistory?.prepare();
    if (called.some((tool) => tool?.definition.name === bash.tool.definition.name)) bash.prepare();
  };
  const sinks: Sink[] = [journal?.write, log?.write, recording, fileHistory?.sink, getReady].flatMap(
    (sink) => sink ?? [],
  );
  const session = new Session({
    id,
    systemPrompt: prompt,
    past,
    engine: createEngine(provider, options.choice, options.thinking),
    sinks,
    note: journal?.note,
    // A recording has no answer to the request for a summary, and nothing is sent that could be too long.
    compaction: options.answers ? undefined : { at: settings["compaction.at"], strings: strings.compaction },
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
    files: fileHistory,
    log,
    notes: options.choice.notes,
    instructions,
    skills,
    budget: budget.budget.states,
    warnings: [
      ...warnings,
      ...journalWarnings,
      ...budget.warnings,
      ...(fileHistory && isRestoreInterrupted(past?.turns) ? [strings.rewind.interrupted] : []),
      ...skillWarnings(skills, strings.skills),
      ...instructions.skipped.map((path) => strings.cli.instructionsSkipped(path)),
      ...instructions.cut.map((file) => strings.cli.instructionsCut(file.path, file.shownBytes, file.bytes)),
    ],
    use: async (choice, thinking) => {
      const model = await connect(choice, thinking);
      fitModel(modelInfo(choice));
      session.use(createEngine(model, choice, thinking));
    },
    close: async () => {
      await hooks?.lifecycle.ended(options.tell);
      const ended = await bash.close();
      await fileHistory?.close();
      if (!run.session) rmSync(files.outputs, { recursive: true, force: true });
      log?.close();
      journal?.close();
      if (journal) await retainSessions(setup, new Date());
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
  { paths, workDir, config }: Setup,
  { systemPrompt: replace, appendSystemPrompt: append, answer, past, mask }: MachineOptions,
  { skills }: SessionSkills,
): { readonly prompt: string; readonly instructions: Instructions } => {
  const before = past?.messages.find(({ role }) => role === "system")?.content;
  if (before !== undefined && [replace, append, answer].every((asked) => asked === undefined))
    return { prompt: before, instructions: NO_INSTRUCTIONS };
  const instructions = loadInstructions(paths.instructions, workDir);
  const prompt = systemPrompt({
    workDir,
    platform: process.platform,
    shell: "bash",
    date: localDate(new Date()),
    replace,
    append,
    hasMemory: config.settings.memory,
    instructions: mask(instructions.text),
    skills: skills.map(({ name }) => name),
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
