import { readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { isHttpUrl, isLoopback, sameOrigin } from "../text/address.ts";
import { errorCode } from "../text/error-message.ts";
import { EXIT } from "../text/exit.ts";
import type { Strings } from "../text/strings.ts";
import { ConfigError } from "./config-error.ts";
import { parseDotenvLine } from "./dotenv.ts";
import { ensurePrivateDir, writePrivateFile } from "./paths.ts";
import { environmentName, PROJECT_VARIABLES } from "./settings.ts";
import type { Place, Variable, Variables } from "./variables.ts";

/** What must be known of a provider to find its key. */
export type KnownProvider = {
  readonly name: string;
  /** The vendor's own address, or the one that the person's config gives. */
  readonly baseUrl: string;
  /** Null: it needs no key. */
  readonly keyVariable: string | null;
  readonly baseUrlVariable: string | null;
  readonly modelVariable: string | null;
};

export type Credential = {
  readonly baseUrl: string;
  /** `default`, `env NAME` or `path:line`. */
  readonly baseUrlOrigin: string;
  /** Whether the address is the provider's own. */
  readonly isOwnAddress: boolean;
  readonly key: { readonly value: string; readonly origin: string } | null;
  /** A key that exists, but must not go to this address. */
  readonly withheldKey: { readonly variable: string; readonly origin: string } | null;
  /** What the provider's model variable says. */
  readonly model: { readonly value: string; readonly origin: string } | null;
};

export type Secrets = {
  /** By provider name. */
  readonly credentials: ReadonlyMap<string, Credential>;
  /** What the project's `.env` says that counts only in a trusted folder. */
  readonly waiting: readonly Variable[];
  readonly warnings: readonly string[];
};

export type ResolveSecretsOptions = {
  readonly variables: Variables;
  readonly providers: readonly KnownProvider[];
  readonly trusted: boolean;
  readonly strings: Strings["config"];
};

/**
 * Key, address and model of each provider. A base URL never receives a key from a place of higher trust than its own;
 * in a folder that is not trusted, the project's `.env` gives keys only, for the vendor's own address, and base URLs only on loopback.
 * @throws ConfigError for a base URL that is no http(s) address.
 */
export const resolveSecrets = (options: ResolveSecretsOptions): Secrets => {
  const credentials = new Map<string, Credential>();
  for (const provider of options.providers) credentials.set(provider.name, resolveCredential(provider, options));
  const waiting = options.trusted ? [] : waitingVariables(options);
  const warnings = waiting.map(({ origin, name }) => options.strings.variableWaitsForTrust(origin, name));
  return { credentials, waiting, warnings };
};

/** The person's own places are trusted alike; a project's `.env` is trusted less. */
const TRUST: Readonly<Record<Place, number>> = { environment: 1, home: 1, project: 0 };

const resolveCredential = (provider: KnownProvider, options: ResolveSecretsOptions): Credential => {
  const { variables, trusted } = options;
  const address = resolveAddress(provider, options);
  const isOwnAddress = sameOrigin(address.baseUrl, provider.baseUrl);
  const keys = provider.keyVariable === null ? [] : variables.find(provider.keyVariable);
  const mayReceive = (key: Variable): boolean => {
    if (isOwnAddress) return true;
    if (TRUST[key.place] > TRUST[address.place]) return false;
    return key.place !== "project" || trusted || isLoopback(address.baseUrl);
  };
  const key = keys.find(mayReceive);
  const [withheld] = key ? [] : keys;
  const models = provider.modelVariable === null ? [] : variables.find(provider.modelVariable);
  const model = models.find(({ place }) => place !== "project" || trusted);
  return {
    baseUrl: address.baseUrl,
    baseUrlOrigin: address.origin,
    isOwnAddress,
    key: key ? { value: key.value, origin: key.origin } : null,
    withheldKey: withheld ? { variable: withheld.name, origin: withheld.origin } : null,
    model: model ? { value: model.value, origin: model.origin } : null,
  };
};

type Address = { readonly baseUrl: string; readonly origin: string; readonly place: Place };

const resolveAddress = (provider: KnownProvider, { variables, trusted, strings }: ResolveSecretsOptions): Address => {
  const found = provider.baseUrlVariable === null ? [] : variables.find(provider.baseUrlVariable);
  const variable = found.find((candidate) => trusted || !waits(candidate, provider));
  if (!variable) return { baseUrl: provider.baseUrl, origin: "default", place: "home" };
  if (!isHttpUrl(variable.value)) throw new ConfigError(strings.invalidBaseUrl(variable.origin, variable.name));
  return { baseUrl: variable.value, origin: variable.origin, place: variable.place };
};

/** Whether a base URL has to wait until the folder is trusted. */
const waits = (variable: Variable, provider: KnownProvider): boolean =>
  variable.place === "project" && !isLoopback(variable.value) && !sameOrigin(variable.value, provider.baseUrl);

const waitingVariables = ({ variables, providers }: ResolveSecretsOptions): Variable[] => {
  const inProject = (name: string | null): Variable[] =>
    name === null ? [] : variables.find(name).filter(({ place }) => place === "project");
  return [
    ...PROJECT_VARIABLES.map(environmentName).flatMap(inProject),
    ...providers.flatMap((provider) => [
      ...inProject(provider.baseUrlVariable).filter((variable) => waits(variable, provider)),
      ...inProject(provider.modelVariable),
    ]),
  ];
};

/**
 * The values of all keys by name, for masking, wherever they stand and whether or not they are used.
 * A name with another value in a second place gets a number: `OPENAI_API_KEY#2`.
 */
export const secretValues = (variables: Variables, providers: readonly KnownProvider[]): Map<string, string> => {
  const values = new Map<string, string>();
  for (const name of secretVariableNames(providers)) {
    const distinct = [...new Set(variables.find(name).map(({ value }) => value))];
    for (const [index, value] of distinct.entries()) values.set(index === 0 ? name : `${name}#${index + 1}`, value);
  }
  return values;
};

/** The variables that no child process gets: keys and tokens of all providers, by their variable and by their name. */
export const secretVariableNames = (providers: readonly KnownProvider[]): string[] => {
  const names = providers.flatMap(({ name, keyVariable }) => {
    const byName = `${name.toUpperCase().replace(/[^A-Z0-9]/g, "_")}_API_KEY`;
    return [keyVariable ?? byName, byName].flatMap((key) => [key, key.replace(/_API_KEY$/, "_AUTH_TOKEN")]);
  });
  return [...new Set(names)];
};

/**
 * Stores a key in a `.env` file (0600) under its variable; every other line stays as it is.
 * @throws ConfigError for a key that is empty or has a line break.
 */
export const storeKey = async (
  file: string,
  variable: string,
  key: string,
  strings: Strings["config"],
): Promise<void> => {
  const value = key.trim();
  if (value === "" || /[\r\n\0]/.test(value)) throw new ConfigError(strings.emptyKey, { exitCode: EXIT.input });
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    if (errorCode(error) === "ENOENT") return "";
    throw error;
  });
  const line = `${variable}=${/^(["']).*\1$/.test(value) ? `"${value}"` : value}`;
  const lines = text === "" ? [] : text.replace(/\n$/, "").split("\n");
  const isOurs = (candidate: string): boolean => parseDotenvLine(candidate)?.name === variable;
  const first = lines.findIndex(isOurs);
  const rest = lines.filter((candidate, index) => index === first || !isOurs(candidate));
  const next = first < 0 ? [...rest, line] : rest.map((candidate) => (isOurs(candidate) ? line : candidate));
  await ensurePrivateDir(dirname(file));
  await writePrivateFile(file, `${next.join("\n")}\n`);
};
