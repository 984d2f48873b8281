import { accessSync, constants } from "node:fs";
import { resolve } from "node:path";
import { type Config, type ConfigFor, readConfig } from "../config/config.ts";
import { ConfigError } from "../config/config-error.ts";
import { type HarnessPaths, harnessPaths } from "../config/paths.ts";
import { resolveSecrets, type Secrets, secretValues, secretVariableNames } from "../config/secrets.ts";
import { environmentName, SETTING_KEYS } from "../config/settings.ts";
import { readTrust } from "../config/trust.ts";
import { projectServers, type TrustItem, trustDigest, trustItems } from "../config/trust-items.ts";
import { readVariables, type Variables } from "../config/variables.ts";
import { listServers, type Server } from "../providers/servers.ts";
import type { FoundSkills } from "../skills/skill.ts";
import { EXIT } from "../text/exit.ts";
import { nearest } from "../text/nearest.ts";
import { earlyLanguage, loadStrings, localeLanguage, type Strings } from "../text/strings.ts";
import { checkAddedDir, checkConfigFile, checkWorkDir } from "./named-files.ts";
import type { RunOptions } from "./program.ts";
import { projectSkills, skillTrustItems } from "./project-skills.ts";
import { createRuleBook, type RuleBook } from "./rule-book.ts";
import { speakChinese } from "./zod-language.ts";

export type Env = Readonly<Record<string, string | undefined>>;

/** What the process was started with. */
export type Surroundings = { readonly env: Env; readonly cwd: string; readonly homeDir: string };

/** Everything that is known before a session starts: where, with what settings, and which keys. */
export type Setup = Surroundings & {
  /** The real path. */
  readonly workDir: string;
  readonly paths: HarnessPaths;
  /** The person's own settings: `--config`, or the one at home. */
  readonly configFile: string;
  readonly strings: Strings;
  readonly variables: Variables;
  readonly config: Config;
  readonly rules: RuleBook;
  readonly trusted: boolean;
  readonly trust: FolderTrust;
  /** What the project's folders hold, whether it counts or not. */
  readonly projectSkills: FoundSkills;
  readonly servers: readonly Server[];
  readonly secrets: Secrets;
  /** NAME → value of every known key, for masking. */
  readonly secretValues: ReadonlyMap<string, string>;
  /** What no child process gets. */
  readonly secretNames: readonly string[];
  readonly warnings: readonly string[];
};

/** What trust in the folder would switch on, and what the person has said to exactly that. */
export type FolderTrust = {
  readonly items: readonly TrustItem[];
  readonly digest: string;
  readonly decision: "yes" | "no" | "open";
  /** The same setup with a yes. @throws ConfigError for a value that counts only then and cannot be used. */
  readonly granted: () => Promise<Setup>;
};

/** @throws UserError for a work directory, a setting or an address that cannot be used. */
export const prepare = async (surroundings: Surroundings, options: RunOptions): Promise<Setup> => {
  const { env, cwd, homeDir } = surroundings;
  const language = earlyLanguage(env);
  const early = await loadStrings(language);
  if (language === "zh") await speakChinese();
  const workDir = checkWorkDir(resolve(cwd, options.cwd ?? "."), early.cli);
  const paths = harnessPaths({ env, homeDir, workDir });
  if (options.config !== undefined) checkConfigFile(resolve(cwd, options.config), early.cli);
  for (const dir of options.addDir ?? []) checkAddedDir(resolve(workDir, dir), early.cli);

  const variables = await readVariables({
    env,
    homeDotenv: paths.dotenv,
    projectDotenv: paths.projectDotenv,
    strings: early.config,
  });
  const configFile = options.config === undefined ? paths.config : resolve(cwd, options.config);
  const record = await readTrust({ path: paths.trust, workDir, strings: early.config });
  const configFor = await readConfig({
    flags: settingFlags(options, early.cli),
    variables,
    files: {
      user: configFile,
      project: paths.projectSettings,
      projectLocal: paths.projectLocalSettings,
    },
    savedRules: record,
    strings: early.config,
  });
  const mcpServers = await projectServers(workDir, early.config);
  // All is read: from here on, trust decides what of it counts.
  const skills = await projectSkills(workDir);
  const found = {
    ...surroundings,
    workDir,
    paths,
    configFile,
    variables,
    configFor,
    mcpServers,
    projectSkills: skills,
  };
  const untrusted = await setupFor(found, false);
  const items = trustItems({
    proposals: untrusted.config.proposals,
    waiting: untrusted.secrets.waiting,
    servers: mcpServers,
    skills: skillTrustItems(skills),
  });
  const digest = trustDigest(items);
  const granted = async (): Promise<Setup> => ({
    ...(await setupFor(found, true)),
    trust: { items, digest, decision: "yes", granted },
  });
  const known = record.digest === digest ? record.trusted : undefined;
  if (options.trust === true || known === true) return granted();
  return { ...untrusted, trust: { items, digest, decision: known === false ? "no" : "open", granted } };
};

type Found = Pick<Setup, keyof Surroundings | "workDir" | "paths" | "configFile" | "variables" | "projectSkills"> & {
  readonly configFor: ConfigFor;
  readonly mcpServers: readonly TrustItem[];
};

const setupFor = async (
  { configFor, mcpServers, ...found }: Found,
  trusted: boolean,
): Promise<Omit<Setup, "trust">> => {
  const { env, workDir, paths, configFile, variables } = found;
  const config = configFor(trusted);
  const { language } = config.settings;
  const strings = await loadStrings(language === "auto" ? localeLanguage(env) : language);
  const servers = listServers(config.settings.providers);
  const secrets = resolveSecrets({ variables, providers: servers, trusted, strings: strings.config });
  const waiting = trusted ? [] : mcpServers;
  const waitingSkills = trusted ? 0 : found.projectSkills.skills.length;
  const files = { trust: paths.trust, config: configFile };
  const rules = createRuleBook({ rules: config.rules, files, strings: strings.permission });
  return {
    ...found,
    strings,
    config,
    rules,
    trusted,
    servers,
    secrets,
    secretValues: secretValues(variables, servers),
    secretNames: secretVariableNames(servers),
    warnings: [
      ...unknownVariables(env, strings.cli),
      ...config.warnings,
      ...rules.warnings,
      ...secrets.warnings,
      ...waiting.map(({ origin, name }) => strings.cli.serverWaitsForTrust(origin, name)),
      ...(waitingSkills === 0 ? [] : [strings.skills.waitsForTrust(waitingSkills)]),
      ...readOnlyWarning(workDir, strings.cli),
    ],
  };
};

/** A misspelt variable would be ignored without a word. */
const unknownVariables = (env: Env, strings: Strings["cli"]): readonly string[] => {
  const known = ["HARNESS9_HOME", ...SETTING_KEYS.flatMap((key) => environmentName(key) ?? [])];
  return Object.keys(env)
    .filter((name) => name.startsWith("HARNESS9_") && !known.includes(name) && !SET_FOR_CHILDREN.includes(name))
    .map((name) => strings.unknownVariable(name, nearest(name, known)));
};

/** What a command of ours finds in its environment, and a harness9 that it starts too. */
const SET_FOR_CHILDREN = ["HARNESS9_COMMAND"];

/** The flags that are settings, by setting key. */
const settingFlags = (options: RunOptions, strings: Strings["cli"]): Readonly<Record<string, unknown>> => {
  if (!options.guard && !options.yolo) throw new ConfigError(strings.noGuardNeedsYolo, { exitCode: EXIT.usage });
  // In the settings a bare number is milliseconds, which nobody means here.
  if (options.maxTime !== undefined && /^[\d.]+$/.test(options.maxTime))
    throw new ConfigError(strings.durationUnit("--max-time", options.maxTime), { exitCode: EXIT.usage });
  return {
    provider: options.provider,
    model: options.model,
    thinking: options.thinking,
    effort: options.effort,
    permissionMode: options.yolo ? "yolo" : options.permissionMode,
    maxTurns: options.maxTurns,
    maxCostUsd: options.maxCost,
    maxTokens: options.maxTokens,
    maxTimeMs: options.maxTime,
    allow: options.allow,
    deny: options.deny,
    addDirs: options.addDir,
  };
};

const readOnlyWarning = (workDir: string, strings: Strings["cli"]): readonly string[] => {
  try {
    accessSync(workDir, constants.W_OK);
    return [];
  } catch {
    return [strings.workDirReadOnly(workDir)];
  }
};
