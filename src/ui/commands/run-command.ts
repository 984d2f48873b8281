import type { ThinkingMode } from "../../schema/event.ts";
import type { ChatSettings } from "../../session/chat.ts";
import { stripControls, visibleControls } from "../../text/clean.ts";
import { errorMessage } from "../../text/error-message.ts";
import { UserError } from "../../text/user-error.ts";
import { formatTokens } from "../figures.ts";
import { type Line, span } from "../line.ts";
import { budgetLines } from "../transcript/budget-lines.ts";
import { helpLines } from "../transcript/help-lines.ts";
import { marked } from "../transcript/paper.ts";
import { type FinishedStep, stepLines } from "../transcript/step-lines.ts";
import { cutLine } from "../transcript/table-lines.ts";
import { sessionUsage } from "../transcript/transcript.ts";
import { costLines } from "../transcript/usage-lines.ts";
import { wrapSpans } from "../wrap.ts";
import { type CommandContext, tell, unknownChoice } from "./command-context.ts";
import { runCompact } from "./compact.ts";
import { runContext } from "./context.ts";
import { runDiff } from "./diff.ts";
import { runFork } from "./fork.ts";
import { runInit } from "./init.ts";
import { runMemory } from "./memory.ts";
import { runPermissions } from "./permissions.ts";
import { runResume } from "./resume.ts";
import { runRewind } from "./rewind.ts";
import { runSkills, sendSkill } from "./skills.ts";
import { describeCommands, findCommand, type ParsedCommand, unknownCommand } from "./slash-commands.ts";

export type { CommandContext };

export const THEMES: readonly ChatSettings["theme"][] = ["auto", "dark", "light", "high-contrast", "none"];
export const THINKING_CHOICES = ["off", "two-stage", "native", "show", "hide"] as const;

/** Does what a command says, and tells what it did. Never throws. */
export const runCommand = async ({ name, argument }: ParsedCommand, context: CommandContext): Promise<void> => {
  const { strings } = context;
  const command = findCommand(name);
  try {
    if (!command) {
      if (!sendSkill({ name, argument }, context)) tell(context, unknownCommand(name, strings.commands), "warning");
      return;
    }
    await COMMANDS[command.name](argument, context);
  } catch (error) {
    const hint = error instanceof UserError && error.hint !== undefined ? `\n${error.hint}` : "";
    tell(context, `${strings.replies.failed(errorMessage(error))}${hint}`, "failure");
  }
};

type Command = (argument: string, context: CommandContext) => void | Promise<void>;

const COMMANDS: Readonly<Record<NonNullable<ReturnType<typeof findCommand>>["name"], Command>> = {
  help: (_, { say, width, strings, keyRows }) =>
    say(
      helpLines(
        { commands: describeCommands(strings.commands), keys: keyRows },
        { width: width(), strings: strings.commands },
      ),
    ),
  clear: async (_, context) => {
    if (context.isBusy()) return tell(context, context.strings.replies.clearWhileBusy, "warning");
    await context.chat.clear();
    context.restart();
    tell(context, context.strings.replies.cleared);
  },
  resume: runResume,
  rewind: runRewind,
  fork: runFork,
  diff: runDiff,
  model: async (argument, context) => {
    const { chat, strings } = context;
    const name = argument === "" ? await pickModel(context) : argument;
    if (name === undefined) return;
    await chat.useModel(name);
    context.refresh();
    tell(context, strings.replies.modelNow(chat.info().model));
  },
  login: async (argument, context) => {
    const { chat, strings, choose, signal } = context;
    const providers = chat.loginProviders();
    const answer =
      argument === ""
        ? await choose(
            {
              kind: "choice",
              title: strings.replies.chooseProvider,
              options: providers.map(({ name, keyVariable, hasKey }) => ({
                id: name,
                label: `${name.padEnd(12)} ${keyVariable}${hasKey ? `  ${strings.replies.hasKey}` : ""}`,
              })),
            },
            signal,
          )
        : { choice: argument };
    if (!("choice" in answer)) return;
    const provider = providers.find((one) => one.name === answer.choice);
    if (!provider)
      return unknownChoice(
        answer.choice,
        providers.map((one) => one.name),
        context,
      );
    const typed = await choose(
      { kind: "text", title: strings.replies.typeKey(provider.keyVariable), secret: true },
      signal,
    );
    if (!("text" in typed)) return;
    if (typed.text === "") return tell(context, strings.replies.keyEmpty, "warning");
    // As where more was pasted than the key.
    if (/\s/.test(typed.text)) return tell(context, strings.replies.keyHasSpaces, "warning");
    const said = await chat.login(provider.name, typed.text);
    context.refresh();
    tell(context, `${said}\n${strings.replies.modelNow(chat.info().model)}`);
  },
  thinking: async (argument, context) => {
    const { chat, strings, showThinking } = context;
    const choice = THINKING_CHOICES.find((one) => one === argument);
    if (argument !== "" && choice === undefined) return unknownChoice(argument, THINKING_CHOICES, context);
    if (choice === "show" || choice === "hide") {
      showThinking.set(choice === "show");
      await chat.saveSetting("showThinking", choice === "show");
    } else if (choice !== undefined) await chat.setThinking(choice satisfies ThinkingMode);
    context.refresh();
    const now = strings.replies.thinkingNow(chat.info().thinking, showThinking.get());
    tell(context, choice === undefined ? `${now}\n${strings.replies.thinkingModes}` : now);
  },
  permissions: runPermissions,
  cost: (_, { say, chat, transcript, width, glyphs, strings }) => {
    const options = { width: width(), glyphs, strings: strings.commands };
    say([
      ...costLines(sessionUsage(transcript()), chat.info().prices, options),
      ...budgetLines(chat.budget(), options),
    ]);
  },
  compact: runCompact,
  context: runContext,
  show: (argument, context) => {
    const { transcript, say, width, glyphs, strings } = context;
    const { recent } = transcript();
    if (argument === "") return say(recentLines(recent, context));
    const step = recent.find(({ number }) => String(number) === argument);
    if (!step) return tell(context, strings.replies.noSuchStep(visibleControls(argument)), "warning");
    say(stepLines(step, { width: width(), glyphs, strings: strings.steps, expanded: true }));
  },
  copy: (_, context) => {
    const { chat, copy, strings } = context;
    const answer = chat
      .session()
      .messages.findLast((message) => message.role === "assistant" && message.content !== "")?.content;
    if (answer === undefined) return tell(context, strings.replies.nothingToCopy, "warning");
    copy(stripControls(answer));
    tell(context, strings.replies.copied([...answer].length));
  },
  export: async (argument, context) => {
    const path = await context.chat.exportMarkdown(argument === "" ? undefined : argument);
    tell(context, context.strings.replies.exported(path));
  },
  tools: (_, context) => {
    const tools = context.chat
      .tools()
      .map(({ name, description }) => `${name.padEnd(12)} ${/^.*?(?=\.(?:\s|$)|\n|$)/.exec(description)?.[0] ?? ""}`);
    tell(context, tools.join("\n"));
  },
  init: runInit,
  memory: runMemory,
  skills: runSkills,
  theme: async (argument, context) => {
    const { chat, strings, choose, setTheme, signal } = context;
    const answer =
      argument === ""
        ? await choose(
            { kind: "choice", title: strings.replies.chooseTheme, options: THEMES.map((id) => ({ id, label: id })) },
            signal,
          )
        : { choice: argument };
    if (!("choice" in answer)) return;
    const theme = THEMES.find((one) => one === answer.choice);
    if (theme === undefined) return unknownChoice(answer.choice, THEMES, context);
    setTheme(theme);
    const path = await chat.saveSetting("theme", theme);
    tell(context, strings.replies.themeNow(theme, path));
  },
  doctor: async (_, context) => {
    tell(context, context.strings.replies.working);
    tell(context, (await context.chat.doctor()).join("\n"));
  },
  quit: (_, { leave }) => leave(),
};

/** A wait that is longer than this says so. */
const SLOW_MS = 400;

const pickModel = async (context: CommandContext): Promise<string | undefined> => {
  const { chat, strings, choose, signal } = context;
  const wait = setTimeout(() => tell(context, strings.replies.working), SLOW_MS);
  const models = await chat.listModels(signal).finally(() => clearTimeout(wait));
  const options = models.map(({ id, provider, contextWindow, isCurrent }) => {
    const facts = [
      ...(contextWindow === null ? [] : [strings.replies.window(formatTokens(contextWindow))]),
      ...(isCurrent ? [strings.replies.currentModel] : []),
    ];
    return { id: `${provider}/${id}`, label: [`${provider}/${id}`, ...facts].join("  ") };
  });
  if (options.length === 0) return undefined;
  const answer = await choose({ kind: "choice", title: strings.replies.chooseModel, options }, signal);
  return "choice" in answer ? answer.choice : undefined;
};

const recentLines = (steps: readonly FinishedStep[], { width, glyphs, strings }: CommandContext): readonly Line[] => {
  if (steps.length === 0) return marked(glyphs.notice, strings.ui.noStep, { width: width(), role: "accent" });
  const rows = steps.map((step): Line => {
    const number = `  ${String(step.number).padStart(3)} `;
    const [head = []] = stepLines(step, {
      width: Math.max(1, width() - number.length),
      glyphs,
      strings: strings.steps,
    });
    return cutLine([span(number, "accent"), ...head], width());
  });
  return [
    ...wrapSpans([span(strings.replies.steps, "dim")], { width: width(), first: [span("  ")], rest: [span("  ")] }),
    ...rows,
  ];
};
