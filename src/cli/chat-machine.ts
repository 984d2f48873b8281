import { ensurePrivateDir } from "../config/paths.ts";
import { setConfigValue } from "../config/set-config-value.ts";
import type { NamedChoice } from "../providers/choose-provider.ts";
import { createFetch } from "../providers/transport.ts";
import type { Ask } from "../schema/ask.ts";
import type { PermissionMode } from "../schema/event.ts";
import type { Chat, ChatInfo, ChatPast } from "../session/chat.ts";
import { EXIT } from "../text/exit.ts";
import { createMask } from "../text/mask.ts";
import { UserError } from "../text/user-error.ts";
import { conversationMarkdown, exportPath, writeNewFile } from "./chat-export.ts";
import { listChatModels, namedModel, namedProvider } from "./chat-models.ts";
import { choose, modelInfo } from "./choose-model.ts";
import { answersFor, openMachine } from "./compose.ts";
import { promptParts } from "./context.ts";
import { doctorLines } from "./doctor-command.ts";
import { editText } from "./edit-text.ts";
import { appendHistory, loadHistory } from "./input-history.ts";
import { listFiles } from "./list-files.ts";
import { loginProviders, storeLogin } from "./login.ts";
import { chatMemory } from "./memory.ts";
import type { RunOptions } from "./program.ts";
import { promptText } from "./prompt.ts";
import { createRecorder } from "./record.ts";
import type { OpenedPast } from "./resume.ts";
import { chooseAgain, modeOf, thinkingOf } from "./resume-choice.ts";
import { resumableSessions } from "./resume-list.ts";
import type { ResumeRequest } from "./resume-request.ts";
import { createChatRewind } from "./rewind.ts";
import { removeSavedRule, savingRules } from "./save-rule.ts";
import type { Setup } from "./setup.ts";
import { chatSkills } from "./skills.ts";
import { writing } from "./writing.ts";

export type ChatOptions = {
  readonly run: RunOptions;
  readonly version: string;
  /** Hears of what goes wrong beside a run, as a log that can no longer be written. */
  readonly tell: (text: string) => void;
  /** The session that goes on; absent for a new one. */
  readonly resume?: ResumeRequest | undefined;
};

const CYCLE: readonly PermissionMode[] = ["ask", "auto-edit", "plan"];

/** The machine below the chat, with all that a person can change in it. @throws UserError */
export const createChat = async (start: Setup, options: ChatOptions, person: Ask): Promise<Chat> => {
  const { workDir, homeDir, cwd, env, paths, configFile, strings, secretNames } = start;
  const { run, version, tell } = options;
  const prompts = {
    systemPrompt: promptText(run, "systemPrompt", cwd, strings.cli),
    appendSystemPrompt: promptText(run, "appendSystemPrompt", cwd, strings.cli),
  };
  const fetch = createFetch({ env });

  let setup = start;
  let mask = createMask(setup.secretValues);
  let past = await openAgain(setup, options.resume);
  let mode = modeOf(setup, past?.last, ["auto", "yolo"]) ?? "ask";
  // Whoever has once chosen one of the others comes back to it.
  let extraModes = CYCLE.includes(mode) ? [] : [mode];
  let thinking = thinkingOf(setup, past?.last);
  const answers = await answersFor(setup, run, tell);
  let { choice, warnings: choiceWarnings } = answers ?? (await chooseAgain(setup, past?.last, { chat: true, fetch }));
  const recorder = createRecorder(run, { version, setup: () => setup, tell });

  const ruleFiles = { workDir, homeDir, trustFile: paths.trust, configFile, harnessHome: paths.home, strings };
  const ask = savingRules(person, { ...ruleFiles, onSaved: start.rules.add, tell });

  const open = () =>
    openMachine(setup, {
      run,
      chat: true,
      version,
      ...prompts,
      ask,
      past: past ?? undefined,
      fetch,
      choice,
      answers,
      recorder,
      thinking,
      permissionMode: () => mode,
      // Looked up at each text: a login adds a key.
      mask: (text) => mask(text),
      tell,
    });
  let machine = await open();

  const changeModel = async (named: readonly NamedChoice[]): Promise<void> => {
    const next = await choose(setup, { named, chat: true, fetch });
    await machine.use(next, thinking);
    choice = next;
  };

  const replaceMachine = async (): Promise<void> => {
    const before = machine;
    machine = await open();
    start.rules.forgetSession();
    await before.close();
  };

  const info = (): ChatInfo => {
    const { contextWindow, prices } = modelInfo(choice);
    const model = choice.kind === "model" ? choice : undefined;
    return {
      version,
      workDir,
      homeDir,
      provider: model?.server.name ?? "offline",
      model: model ? `${model.server.name}/${model.model}` : strings.offline.label,
      isOffline: model === undefined,
      keyVariables: loginProviders(setup).map(({ keyVariable }) => keyVariable),
      contextWindow,
      prices,
      mode,
      modes: [...CYCLE, ...extraModes],
      thinking,
      logFile: machine.log?.path ?? null,
      sessionId: machine.session.id,
      isKept: machine.journal !== null,
      notes: choice.notes,
      warnings: [...setup.warnings, ...choiceWarnings, ...machine.warnings],
    };
  };

  return {
    session: () => machine.session,
    info,
    setMode: (next) => {
      mode = next;
      machine.journal?.note({ type: "mode", time: new Date().toISOString(), mode });
      if (![...CYCLE, ...extraModes].includes(next)) extraModes = [...extraModes, next];
    },
    setThinking: async (next) => {
      await machine.use(choice, next);
      thinking = next;
    },
    useModel: (name) => changeModel(namedModel(name.trim(), choice, setup)),
    listModels: (signal) => listChatModels(setup, choice, fetch, signal),
    loginProviders: () => loginProviders(setup),
    login: async (provider, key) => {
      const login = await storeLogin(setup, provider, key);
      // The key is known from here on, even where the provider cannot be used.
      setup = login.setup;
      mask = createMask(setup.secretValues);
      await changeModel(namedProvider(provider, choice, setup));
      return login.message;
    },
    saveSetting: async (key, value) => {
      await writing(configFile, strings.cli, async () => {
        if (run.config === undefined) await ensurePrivateDir(paths.home);
        await setConfigValue(configFile, key, value, strings.config);
      });
      return configFile;
    },
    runShell: (command, signal, onEvent) => machine.session.runShell(command, signal, onEvent),
    clear: async () => {
      past = null;
      await replaceMachine();
    },
    past: () => past && chatPast(past),
    rewind: {
      ...createChatRewind({ session: () => machine.session, files: () => machine.files, now: Date.now }),
      fork: async () => {
        const { id } = machine.session;
        if (!machine.journal) throw new UserError(strings.rewind.nothingToFork, { exitCode: EXIT.failed });
        await machine.files?.settled();
        const before = past;
        past = await openAgain(setup, { session: { type: "id", id }, asFork: true });
        try {
          await replaceMachine();
        } catch (error) {
          past = before;
          throw error;
        }
        return { from: id, warnings: machine.warnings };
      },
    },
    listSessions: () => resumableSessions(paths.sessions, Date.now()),
    resume: async (id) => {
      const next = await openAgain(setup, { session: { type: "id", id }, asFork: !run.session });
      if (!next) return [];
      const kept = { past, mode, thinking, choice, choiceWarnings };
      try {
        ({ choice, warnings: choiceWarnings } = await chooseAgain(setup, next.last, { chat: true, fetch }));
        past = next;
        thinking = thinkingOf(setup, next.last);
        mode = modeOf(setup, next.last, ["auto", "yolo"]) ?? "ask";
        await replaceMachine();
      } catch (error) {
        next.release?.();
        ({ past, mode, thinking, choice, choiceWarnings } = kept);
        throw error;
      }
      if (![...CYCLE, ...extraModes].includes(mode)) extraModes = [...extraModes, mode];
      return [...choiceWarnings, ...machine.warnings];
    },
    listFiles: (signal) => listFiles({ workDir, env, secretNames, signal }),
    history: {
      load: async () => {
        const { entries, warning } = await loadHistory(paths.history);
        return { entries, ...(warning !== undefined && { problem: warning }) };
      },
      append: (text) => appendHistory(paths.history, text),
    },
    rules: start.rules.list,
    takeBackRule: async (rule) => {
      await removeSavedRule(rule, ruleFiles);
      start.rules.takeBack(rule);
    },
    explainCommand: async (command) => {
      const { explainCommand, explanationLines } = await import("./explain-command.ts");
      const explain = await explainCommand(setup, command, run.guard);
      return explanationLines(mode, explain(mode), strings.permission);
    },
    isTrusted: () => (start.trust.items.length === 0 ? null : start.trusted),
    budget: () => machine.budget(),
    tools: () => machine.registry.getAvailableTools(),
    promptParts: () => {
      const [system] = machine.session.messages;
      const skills = machine.skills.skills.map(({ name }) => name);
      return promptParts(system?.content ?? "", setup, { mask, skills });
    },
    memory: chatMemory(start),
    skills: chatSkills(() => machine.skills, strings.skills),
    exportMarkdown: (asked) => {
      const { messages, id: sessionId } = machine.session;
      const text = conversationMarkdown(messages, { sessionId, workDir, model: info().model }, strings.chat);
      return writeNewFile(exportPath(asked, { sessionId, workDir, homeDir }), text, strings.cli);
    },
    doctor: () => doctorLines(setup, version),
    editText: (text, signal, name) => editText(text, { name, env, secretNames, strings: strings.chat, signal }),
    writeLog: (text) => machine.log?.writeText(text),
    close: async () => {
      const ended = await machine.close();
      recorder?.close();
      return ended;
    },
    kill: () => machine.kill(),
  };
};

/** Loaded for itself: a new session reads no journal. */
const openAgain = async (setup: Setup, request: ResumeRequest | undefined): Promise<OpenedPast | null> =>
  request ? (await import("./resume.ts")).openPast(setup, request) : null;

const chatPast = ({ id, recent, closing, totals, seq }: OpenedPast): ChatPast => {
  const time = recent.events.at(-1)?.time ?? "";
  const ends = closing.map((body, index) => ({ ...body, sessionId: id, seq: seq + index + 1, time }));
  return { id, turnsBefore: recent.turnsBefore, events: [...recent.events, ...ends], totals };
};
