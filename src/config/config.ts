import { EXIT } from "../text/exit.ts";
import { nearest } from "../text/nearest.ts";
import type { Strings } from "../text/strings.ts";
import { checkValue, textValues } from "./check-value.ts";
import { ConfigError } from "./config-error.ts";
import { readJsonc } from "./jsonc.ts";
import { isForbiddenInProject, loosens } from "./project-limits.ts";
import {
  DEFAULT_SETTINGS,
  environmentName,
  isSettingKey,
  PROJECT_VARIABLES,
  SETTING_KEYS,
  type SettingKey,
  type Settings,
} from "./settings.ts";
import type { Variables } from "./variables.ts";

/** A value with where it comes from: `default`, `flag`, `env NAME` or `path:line`; of several, joined by commas. */
export type ConfigEntry = { readonly key: string; readonly value: unknown; readonly origin: string };

export type OriginRule = { readonly rule: string; readonly origin: string };

export type Config = {
  readonly settings: Settings;
  /** Every setting with its origin, in a fixed order. */
  readonly entries: readonly ConfigEntry[];
  /** The permission rules of all layers, each with its origin. */
  readonly rules: Readonly<Record<"allow" | "ask" | "deny", readonly OriginRule[]>>;
  /** The layers that name a provider or a model, the strongest first. */
  readonly named: readonly { readonly provider?: string; readonly model?: string; readonly origin: string }[];
  /** What the project's files would loosen, and trust has not allowed. */
  readonly proposals: readonly ConfigEntry[];
  readonly warnings: readonly string[];
};

export type LoadConfigOptions = {
  /** Values by setting key, as the command line gave them: text or already typed. */
  readonly flags: Readonly<Record<string, unknown>>;
  readonly variables: Variables;
  readonly files: { readonly user: string; readonly project: string; readonly projectLocal: string };
  /** What the person has said yes or no to in this folder, kept where the project cannot write it. */
  readonly savedRules?: SavedRules;
  readonly strings: Strings["config"];
};

export type SavedRules = {
  readonly allow: readonly string[];
  readonly deny: readonly string[];
  /** `path:line` */
  readonly origin: string;
};

type LayerKind = "flag" | "variable" | "saved" | "project" | "user";

/** One value before it is checked. `place` names it in messages. */
type Raw = { readonly key: string; readonly value: unknown; readonly origin: string; readonly place: string };
type Layer = { readonly kind: LayerKind; readonly raws: readonly Raw[] };
type Checked = { readonly kind: LayerKind; readonly values: ReadonlyMap<SettingKey, ConfigEntry> };

/** The settings of a folder, trusted or not. @throws ConfigError that lists every value that cannot be used, each with file, line and key. */
export type ConfigFor = (trusted: boolean) => Config;

/**
 * Reads all settings: flags > environment and `.env` > the folder's saved rules > `.harness9/settings.local.json` >
 * `.harness9/settings.json` > `~/.harness9/config.json` > defaults. Lists are the union of all layers, tables merge by name.
 * The files are read once: what a person is asked to trust is what counts then, whatever the files have become.
 * @throws ConfigError for a file that cannot be read.
 */
export const readConfig = async (options: LoadConfigOptions): Promise<ConfigFor> => {
  const { files, strings, savedRules } = options;
  const projectLocal = await fileRaws(files.projectLocal, strings);
  const project = await fileRaws(files.project, strings);
  const user = await fileRaws(files.user, strings);
  return (trusted) => {
    const layers: readonly Layer[] = [
      { kind: "flag", raws: flagRaws(options.flags) },
      { kind: "variable", raws: variableRaws(options.variables, trusted) },
      { kind: "saved", raws: savedRules === undefined ? [] : savedRaws(savedRules) },
      { kind: "project", raws: projectLocal },
      { kind: "project", raws: project },
      { kind: "user", raws: user },
    ];
    return configOf(layers, { ...options, trusted });
  };
};

type Trusting = LoadConfigOptions & { readonly trusted: boolean };

const configOf = (layers: readonly Layer[], options: Trusting): Config => {
  const { strings } = options;
  const report: Report = { warnings: [...options.variables.warnings], problems: [], proposals: [] };
  const checked = layers.map((layer) => checkLayer(layer, report, strings));
  if (report.problems.length > 0) {
    const exitCode = report.problems.every(({ kind }) => kind === "flag") ? EXIT.usage : EXIT.config;
    throw new ConfigError(report.problems.map(({ text }) => text).join("\n"), { exitCode });
  }
  const allowed = limitProject(checked, options, report);
  return { ...combine(allowed), proposals: report.proposals, warnings: report.warnings };
};

type Report = {
  readonly warnings: string[];
  readonly problems: { readonly kind: LayerKind; readonly text: string }[];
  readonly proposals: ConfigEntry[];
};

const flagRaws = (flags: LoadConfigOptions["flags"]): Raw[] =>
  Object.entries(flags)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => ({ key, value, origin: "flag", place: flagName(key) }));

/** `maxCostUsd` → `--max-cost`, `addDirs` → `--add-dir`. */
const flagName = (key: string): string =>
  `--${key.replace(/(Usd|Ms)$|(?<=Dir)s$/, "").replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

const variableRaws = (variables: Variables, trusted: boolean): Raw[] =>
  SETTING_KEYS.flatMap((key) => {
    const name = environmentName(key);
    const counts = (place: string): boolean => place !== "project" || (trusted && PROJECT_VARIABLES.includes(key));
    const found = name === null ? undefined : variables.find(name).find(({ place }) => counts(place));
    if (!found) return [];
    const place = found.place === "environment" ? found.name : `${found.origin}: ${found.name}`;
    return [{ key, value: found.value, origin: found.origin, place }];
  });

const savedRaws = ({ allow, deny, origin }: SavedRules): Raw[] =>
  Object.entries({ allow, deny })
    .filter(([, value]) => value.length > 0)
    .map(([key, value]) => ({ key, value, origin, place: origin }));

const fileRaws = async (path: string, strings: Strings["config"]): Promise<Raw[]> =>
  ((await readJsonc(path, strings)) ?? []).map(({ key, value, line }) => ({
    key,
    value,
    origin: `${path}:${line}`,
    place: `${path}:${line}`,
  }));

const checkLayer = (layer: Layer, report: Report, strings: Strings["config"]): Checked => {
  const values = new Map<SettingKey, ConfigEntry>();
  for (const { key, value, origin, place } of layer.raws) {
    if (layer.kind === "project" && isForbiddenInProject(key)) {
      report.warnings.push(strings.forbiddenInProject(place, key));
      continue;
    }
    if (!isSettingKey(key)) {
      report.warnings.push(strings.unknownKey(place, key, nearest(key, SETTING_KEYS)));
      continue;
    }
    const isText = typeof value === "string" && (layer.kind === "flag" || layer.kind === "variable");
    const result = checkValue(key, isText ? textValues(key, value) : [value]);
    for (const unknown of result.unknown) report.warnings.push(strings.unknownKey(place, unknown, []));
    for (const problem of result.problems)
      report.problems.push({
        kind: layer.kind,
        text: layer.kind === "flag" ? `${place}: ${problem.rule}` : strings.invalid(place, problem.key, problem.rule),
      });
    if (result.problems.length === 0) values.set(key, { key, value: result.value, origin });
  }
  return { kind: layer.kind, values };
};

/** Takes out of the project's layers what would loosen the person's own permissions. */
const limitProject = (layers: readonly Checked[], { trusted, strings }: Trusting, report: Report): Checked[] => {
  const user = layers.find(({ kind }) => kind === "user")?.values;
  return layers.map((layer) => {
    if (layer.kind !== "project") return layer;
    const kept = [...layer.values].filter(([key, entry]) => {
      const loosened = loosens(key, entry.value, user?.get(key)?.value ?? DEFAULT_SETTINGS[key]);
      if (loosened === "no" || (loosened === "with trust" && trusted)) return true;
      if (loosened === "with trust") report.proposals.push(entry);
      const text = loosened === "with trust" ? strings.waitsForTrust : strings.loosensPermissions;
      report.warnings.push(text(entry.origin, key));
      return false;
    });
    return { kind: layer.kind, values: new Map(kept) };
  });
};

const combine = (layers: readonly Checked[]): Pick<Config, "settings" | "entries" | "rules" | "named"> => {
  const entries = SETTING_KEYS.map((key) => combineKey(key, layers));
  const settings = Object.fromEntries(entries.map(({ key, value }) => [key, value])) as unknown as Settings;
  const named = layers.flatMap(({ values }) => {
    const provider = values.get("provider");
    const model = values.get("model");
    const origin = model?.origin ?? provider?.origin;
    if (origin === undefined) return [];
    return [
      {
        origin,
        ...(typeof provider?.value === "string" && { provider: provider.value }),
        ...(typeof model?.value === "string" && { model: model.value }),
      },
    ];
  });
  return {
    settings,
    entries,
    rules: { allow: rules("allow", layers), ask: rules("ask", layers), deny: rules("deny", layers) },
    named,
  };
};

const combineKey = (key: SettingKey, layers: readonly Checked[]): ConfigEntry => {
  const given = layers.flatMap(({ values }) => values.get(key) ?? []);
  const [strongest] = given;
  if (!strongest) return { key, value: DEFAULT_SETTINGS[key], origin: "default" };
  const origin = given.map((entry) => entry.origin).join(", ");
  if (Array.isArray(DEFAULT_SETTINGS[key])) {
    return { key, value: [...new Set(given.flatMap(({ value }) => value as readonly string[]))], origin };
  }
  if (key === "models" || key === "providers") {
    return { key, value: Object.assign({}, ...given.toReversed().map(({ value }) => value)), origin };
  }
  return strongest;
};

const rules = (key: "allow" | "ask" | "deny", layers: readonly Checked[]): OriginRule[] =>
  layers.flatMap(({ values }) => {
    const entry = values.get(key);
    return entry ? (entry.value as readonly string[]).map((rule) => ({ rule, origin: entry.origin })) : [];
  });
