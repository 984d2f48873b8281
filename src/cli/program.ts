import { Command, Option } from "commander";
import { OUTPUT_FORMATS, type OutputFormat } from "../headless/output-format.ts";
import { PERMISSION_MODES, type PermissionMode } from "../schema/event.ts";
import { USAGE_GROUPS, type UsageGroup } from "../session/usage-table.ts";
import type { Strings } from "../text/strings.ts";

/** The options of `run`, as the command line gave them. */
export type RunOptions = {
  readonly model?: string;
  readonly provider?: string;
  readonly cwd?: string;
  readonly thinking?: string;
  readonly effort?: string;
  readonly permissionMode?: string;
  readonly yolo?: true;
  readonly guard: boolean;
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
  readonly trust?: true;
  readonly addDir?: readonly string[];
  readonly maxTurns?: string;
  readonly maxCost?: string;
  readonly maxTokens?: string;
  readonly maxTime?: string;
  readonly outputFormat: OutputFormat;
  readonly jsonSchema?: string;
  readonly output?: string;
  readonly session: boolean;
  readonly continue?: true;
  readonly resume?: true;
  /** `--session`; `session` is what `--no-session` sets. */
  readonly sessionId?: string;
  readonly fork?: true;
  readonly systemPrompt?: string;
  readonly systemPromptFile?: string;
  readonly appendSystemPrompt?: string;
  readonly appendSystemPromptFile?: string;
  readonly logFile?: string;
  readonly record?: string;
  readonly answers?: string;
  readonly config?: string;
  readonly verbose?: true;
};

/** What the program can do. Each returns the process's exit code, or throws a UserError. */
export type Actions = {
  readonly run: (prompt: readonly string[], options: RunOptions) => Promise<number>;
  readonly config: (request: ConfigRequest, options: RunOptions) => Promise<number>;
  readonly tools: (options: RunOptions & { readonly json?: true }) => Promise<number>;
  readonly logs: (options: RunOptions & { readonly follow?: true; readonly lines: string }) => Promise<number>;
  readonly sessions: (request: SessionsRequest, options: RunOptions) => Promise<number>;
  readonly usage: (request: UsageRequest, options: RunOptions) => Promise<number>;
  readonly replay: (request: ReplayRequest, options: RunOptions) => Promise<number>;
  readonly doctor: (options: RunOptions & { readonly json?: true }) => Promise<number>;
  readonly trust: (options: RunOptions & { readonly revoke?: true }) => Promise<number>;
  readonly permissions: (request: PermissionsRequest, options: RunOptions) => Promise<number>;
  readonly completion: (shell: string, program: Command) => Promise<number>;
};

/** Opens the chat. It is no action, since it needs nothing of what they need. */
export type OpenChat = (
  prompt: readonly string[],
  options: RunOptions,
  commandNames: readonly string[],
) => Promise<void>;

/** Loads the actions when one is asked for, and carries it out. */
export type Perform = (action: (actions: Actions) => Promise<number>) => Promise<void>;

export type ConfigRequest =
  | { readonly type: "list"; readonly json: boolean }
  | { readonly type: "get"; readonly key: string }
  | { readonly type: "set"; readonly key: string; readonly value: string; readonly project: boolean }
  | { readonly type: "key"; readonly provider: string };

export type PermissionsRequest =
  | { readonly type: "list"; readonly json: boolean }
  | {
      readonly type: "explain";
      readonly command: string;
      /** Absent = every mode. */
      readonly mode?: PermissionMode;
      readonly json: boolean;
    };

export type SessionsRequest =
  | { readonly type: "list"; readonly all: boolean; readonly json: boolean }
  | { readonly type: "show"; readonly id: string; readonly audit: boolean; readonly json: boolean }
  | {
      readonly type: "export";
      readonly id: string;
      readonly format: "md" | "json";
      /** Absent = standard output. */
      readonly output?: string;
    }
  | { readonly type: "rm"; readonly ids: readonly string[] }
  | { readonly type: "gc"; readonly olderThan: string; readonly all: boolean; readonly dryRun: boolean };

export type UsageRequest = { readonly by: UsageGroup; readonly since?: string; readonly json: boolean };

export type ReplayRequest = {
  /** A recording, a journal, or the id of a session. */
  readonly file: string;
  readonly speed?: string;
  /** Absent where none was named: then a terminal shows the chat. */
  readonly format?: OutputFormat;
};

/** The command line. Options after a command belong to it; no option takes an optional value. */
export const createProgram = (
  version: string,
  strings: Strings["cli"],
  { perform, openChat }: { readonly perform: Perform; readonly openChat: OpenChat },
): Command => {
  const { commands, options } = strings;
  const program = new Command("harness9")
    .description(strings.program)
    .version(version, "-v, --version", options.version)
    .helpOption("-h, --help", options.help)
    .helpCommand(false)
    .enablePositionalOptions()
    .exitOverride()
    .argument("[prompt...]")
    .option("-p, --print", options.print);
  addRunOptions(program, options).action((prompt: string[], { print, ...rest }: RunOptions & { print?: true }) =>
    print ? perform((actions) => actions.run(prompt, rest)) : openChat(prompt, rest, names(program)),
  );

  const command = (parent: Command, usage: string, description: string): Command =>
    parent.command(usage).description(description).helpOption("-h, --help", options.help).exitOverride();

  addRunOptions(command(program, "run [prompt...]", commands.run), options).action(
    (prompt: string[], _options, self: Command) => perform((actions) => actions.run(prompt, merged(self))),
  );

  const list = (_options: unknown, self: Command) =>
    perform((actions) => actions.config({ type: "list", json: isJson(self) }, merged(self)));
  const config = command(program, "config", commands.config)
    .helpCommand(false)
    .option("--json", options.json)
    .action(list);
  command(config, "list", commands.configList).option("--json", options.json).action(list);
  command(config, "get <key>", commands.configGet).action((key: string, _options, self: Command) =>
    perform((actions) => actions.config({ type: "get", key }, merged(self))),
  );
  command(config, "set <key> <value>", commands.configSet)
    .option("--project", options.project)
    .action((key: string, value: string, { project = false }: { project?: boolean }, self: Command) =>
      perform((actions) => actions.config({ type: "set", key, value, project }, merged(self))),
    );
  command(config, "key <provider>", commands.configKey).action((provider: string, _options, self: Command) =>
    perform((actions) => actions.config({ type: "key", provider }, merged(self))),
  );

  const listRules = (_options: unknown, self: Command) =>
    perform((actions) => actions.permissions({ type: "list", json: isJson(self) }, merged(self)));
  const permissions = command(program, "permissions", commands.permissions)
    .helpCommand(false)
    .option("--json", options.json)
    .action(listRules);
  command(permissions, "list", commands.permissionsList).option("--json", options.json).action(listRules);
  command(permissions, "explain <command...>", commands.permissionsExplain)
    .addOption(new Option("--mode <mode>", commands.permissionsMode).choices(PERMISSION_MODES))
    .option("--json", options.json)
    .action((words: string[], { mode }: { mode?: PermissionMode }, self: Command) => {
      const request = { type: "explain", command: words.join(" "), json: isJson(self) } as const;
      return perform((actions) => actions.permissions({ ...request, ...(mode && { mode }) }, merged(self)));
    });

  command(program, "tools", commands.tools)
    .option("--json", options.json)
    .action((_options, self: Command) => perform((actions) => actions.tools(merged(self))));
  command(program, "logs", commands.logs)
    .option("-f, --follow", options.follow)
    .option("-n, --lines <count>", options.lines, "40")
    .action((_options, self: Command) => perform((actions) => actions.logs(merged(self))));

  const listSessions = (_options: unknown, self: Command) =>
    perform((actions) =>
      actions.sessions({ type: "list", all: self.optsWithGlobals()["all"] === true, json: isJson(self) }, merged(self)),
    );
  const sessions = command(program, "sessions", commands.sessions)
    .helpCommand(false)
    .option("--all", options.allFolders)
    .option("--json", options.json)
    .action(listSessions);
  command(sessions, "list", commands.sessionsList)
    .option("--all", options.allFolders)
    .option("--json", options.json)
    .action(listSessions);
  command(sessions, "show <id>", commands.sessionsShow)
    .option("--json", options.journalLines)
    .option("--audit", options.audit)
    .action((id: string, { audit = false }: { audit?: boolean }, self: Command) =>
      perform((actions) => actions.sessions({ type: "show", id, audit, json: isJson(self) }, merged(self))),
    );
  command(sessions, "export <id>", commands.sessionsExport)
    .addOption(new Option("--format <format>", options.exportFormat).choices(["md", "json"]).default("md"))
    .option("-o, --output <file>", options.exportOutput)
    .action((id: string, { format }: { format: "md" | "json" }, self: Command) => {
      const options = merged<RunOptions>(self);
      const request = {
        type: "export",
        id,
        format,
        ...(options.output !== undefined && { output: options.output }),
      } as const;
      return perform((actions) => actions.sessions(request, options));
    });
  command(sessions, "rm <id...>", commands.sessionsRm).action((ids: string[], _options, self: Command) =>
    perform((actions) => actions.sessions({ type: "rm", ids }, merged(self))),
  );
  command(sessions, "gc", commands.sessionsGc)
    .option("--older-than <age>", options.olderThan, "30d")
    .option("--all", options.allFolders)
    .option("--dry-run", options.dryRun)
    .action(({ olderThan, dryRun = false }: { olderThan: string; dryRun?: boolean }, self: Command) => {
      const all = self.optsWithGlobals()["all"] === true;
      return perform((actions) => actions.sessions({ type: "gc", olderThan, all, dryRun }, merged(self)));
    });

  command(program, "usage", commands.usage)
    .addOption(new Option("--by <group>", options.usageBy).choices(USAGE_GROUPS).default("day"))
    .option("--since <day>", options.usageSince)
    .option("--json", options.json)
    .action(({ by, since }: { by: UsageGroup; since?: string }, self: Command) => {
      const request = { by, json: isJson(self), ...(since !== undefined && { since }) };
      return perform((actions) => actions.usage(request, merged(self)));
    });

  command(program, "replay <file>", commands.replay)
    .option("--speed <factor>", options.speed)
    .addOption(new Option("--output-format <format>", options.outputFormat).choices(OUTPUT_FORMATS))
    .action((file: string, { speed }: { speed?: string }, self: Command) => {
      const isNamed = [self, program].some((one) => one.getOptionValueSource("outputFormat") === "cli");
      const { outputFormat: format } = merged<RunOptions>(self);
      const request = { file, ...(speed !== undefined && { speed }), ...(isNamed && { format }) };
      return perform((actions) => actions.replay(request, merged(self)));
    });

  command(program, "doctor", commands.doctor)
    .option("--json", options.json)
    .action((_options, self: Command) => perform((actions) => actions.doctor(merged(self))));
  command(program, "trust", commands.trust)
    .option("--revoke", options.revoke)
    .action((_options, self: Command) => perform((actions) => actions.trust(merged(self))));
  command(program, "completion <shell>", commands.completion).action((shell: string) =>
    perform((actions) => actions.completion(shell, program)),
  );
  return program;
};

const names = (program: Command): readonly string[] => program.commands.map((command) => command.name());

const addRunOptions = (command: Command, options: Strings["cli"]["options"]): Command => {
  const list = (value: string, before: readonly string[] = []): readonly string[] => [...before, value];
  return command
    .option("-m, --model <model>", options.model)
    .option("--provider <name>", options.provider)
    .option("-C, --cwd <dir>", options.cwd)
    .option("--thinking <mode>", options.thinking)
    .option("--effort <level>", options.effort)
    .option("--permission-mode <mode>", options.permissionMode)
    .option("--yolo", options.yolo)
    .option("--no-guard", options.noGuard)
    .option("--allow <rule>", options.allow, list)
    .option("--deny <rule>", options.deny, list)
    .option("--trust", options.trust)
    .option("--add-dir <dir>", options.addDir, list)
    .option("--max-turns <count>", options.maxTurns)
    .option("--max-cost <dollars>", options.maxCost)
    .option("--max-tokens <count>", options.maxTokens)
    .option("--max-time <duration>", options.maxTime)
    .addOption(new Option("--output-format <format>", options.outputFormat).choices(OUTPUT_FORMATS).default("text"))
    .option("--json-schema <file>", options.jsonSchema)
    .option("-o, --output <file>", options.output)
    .option("--no-session", options.noSession)
    .option("-c, --continue", options.continue)
    .option("-r, --resume", options.resume)
    .addOption(sessionOption(options.session))
    .option("--fork", options.fork)
    .option("--system-prompt <text>", options.systemPrompt)
    .option("--system-prompt-file <file>", options.systemPromptFile)
    .option("--append-system-prompt <text>", options.appendSystemPrompt)
    .option("--append-system-prompt-file <file>", options.appendSystemPromptFile)
    .option("--log-file <file>", options.logFile)
    .option("--record <file>", options.record)
    .option("--answers <file>", options.answers)
    .option("--config <file>", options.config)
    .option("--verbose", options.verbose);
};

/** Not the opposite of `--no-session`, which it may stand beside. */
const sessionOption = (description: string): Option => {
  const option = new Option("--session <id>", description);
  option.attributeName = () => "sessionId";
  return option;
};

/** A command's options over those that stood before it; what was given beats a default, wherever it stood. */
const merged = <T extends RunOptions>(command: Command): T => {
  const chain: Command[] = [];
  for (let at: Command | null = command; at; at = at.parent) chain.unshift(at);
  const values: Record<string, unknown> = {};
  for (const part of chain)
    for (const [name, value] of Object.entries(part.opts()))
      if (!(name in values) || part.getOptionValueSource(name) !== "default") values[name] = value;
  return values as T;
};

const isJson = (command: Command): boolean => command.optsWithGlobals()["json"] === true;
