import type { ModelInfo } from "../schema/model.ts";
import { shownAddress } from "../text/address.ts";
import { errorMessage } from "../text/error-message.ts";
import { EXIT } from "../text/exit.ts";
import { nearest } from "../text/nearest.ts";
import type { Strings } from "../text/strings.ts";
import { UserError } from "../text/user-error.ts";
import { lookupModel, type ModelOverrides, vendorOf } from "./models.ts";
import { ProviderError } from "./provider.ts";
import type { Server } from "./servers.ts";

const LIST_TIMEOUT_MS = 20_000;
/** A local server answers at once, or the chat starts without it. */
const PROBE_TIMEOUT_MS = 500;

/** What is known of a server's key, address and model variable. */
export type ServerCredential = {
  readonly baseUrl: string;
  readonly baseUrlOrigin: string;
  readonly isOwnAddress: boolean;
  readonly key: { readonly value: string; readonly origin: string } | null;
  /** A key that exists, but must not go to this address. */
  readonly withheldKey: { readonly variable: string; readonly origin: string } | null;
  readonly model: { readonly value: string; readonly origin: string } | null;
};

/** A layer (flag, variable, settings file) that names a provider, a model or both. */
export type NamedChoice = { readonly provider?: string | undefined; readonly model?: string | undefined };

/** The models that a server lists. Throws when it does not answer in time. */
export type ListModels = (
  server: Pick<Server, "dialect">,
  at: { readonly baseUrl: string; readonly apiKey: string; readonly timeoutMs: number },
) => Promise<readonly string[]>;

export type ChooseProviderOptions = {
  readonly servers: readonly Server[];
  readonly credentials: ReadonlyMap<string, ServerCredential>;
  /** The strongest first. */
  readonly named: readonly NamedChoice[];
  /** In the chat, a local server that answers is taken before the demonstration. */
  readonly chat: boolean;
  readonly listModels: ListModels;
  readonly overrides?: ModelOverrides;
  readonly strings: Pick<Strings, "config" | "provider">;
};

export type ModelChoice = {
  readonly kind: "model";
  readonly server: Server;
  readonly model: string;
  /** Empty where the server needs none. */
  readonly apiKey: string;
  readonly baseUrl: string;
  readonly isOwnAddress: boolean;
  readonly info: ModelInfo;
  /** What the person should know, as that price and window are unknown. */
  readonly notes: readonly string[];
};

export type ProviderChoice = ModelChoice | { readonly kind: "offline"; readonly notes: readonly string[] };

/**
 * Which provider and model: what is named (the strongest layer first) > a provider whose model variable is set >
 * a provider with a key > in the chat a local server that answers > the offline demonstration.
 * @throws UserError 41 for a provider or model that is named without its key, 52 for an unknown provider or a model that must be named.
 */
export const chooseProvider = async (options: ChooseProviderOptions): Promise<ProviderChoice> => {
  const wanted = resolveNames(options);
  if (wanted.provider === "offline") return { kind: "offline", notes: [] };
  if (wanted.provider !== undefined) return chosen(options, findServer(options, wanted.provider), wanted.model);
  if (wanted.model !== undefined) return chosen(options, serverForModel(options, wanted.model), wanted.model);
  const server = serverByVariable(options) ?? serverByKey(options);
  if (server) return chosen(options, server, undefined);
  return options.chat ? localServer(options) : { kind: "offline", notes: [] };
};

type Wanted = { readonly provider?: string; readonly model?: string };

/** One provider and one model out of the layers. A model of a weaker layer that belongs to another provider does not count. */
const resolveNames = (options: ChooseProviderOptions): Wanted => {
  const providerLayer = options.named.findIndex(({ provider }) => provider !== undefined);
  const modelLayer = options.named.findIndex(({ model }) => model !== undefined);
  const model = options.named[modelLayer]?.model;
  const provider = options.named[providerLayer]?.provider;
  if (model === undefined) return provider === undefined ? {} : { provider };
  // `--model openai/x` against a provider of a weaker layer: the stronger one decides.
  const isModelStronger = modelLayer >= 0 && (providerLayer < 0 || modelLayer < providerLayer);
  const prefixed = splitModel(options, model, isModelStronger);
  if (prefixed && isModelStronger && !isRouted(options, provider, prefixed.provider)) return prefixed;
  if (provider === undefined) return { model };
  if (modelLayer === providerLayer || isModelStronger) return { provider, model };
  const weaker = options.named[modelLayer];
  const owner = weaker?.provider ?? prefixed?.provider;
  if (owner !== undefined && owner !== provider) return { provider };
  return { provider, model: prefixed?.model ?? model };
};

/** Whether `vendor/model` is meant for the router that a weaker layer names: the vendor itself has no key. */
const isRouted = (options: ChooseProviderOptions, provider: string | undefined, vendor: string): boolean =>
  provider === "openrouter" && !options.credentials.get(vendor)?.key;

/** `provider/model`, where the first part is a provider's name. A part that is nearly one is a slip of the pen. */
const splitModel = (
  options: ChooseProviderOptions,
  text: string,
  isChecked: boolean,
): { provider: string; model: string } | null => {
  const slash = text.indexOf("/");
  if (slash <= 0 || slash === text.length - 1) return null;
  const provider = text.slice(0, slash);
  if (options.servers.some(({ name }) => name === provider)) return { provider, model: text.slice(slash + 1) };
  if (isChecked && nearest(provider, names(options)).length > 0) throw unknownProvider(options, provider);
  return null;
};

const names = ({ servers }: ChooseProviderOptions): string[] => [...servers.map(({ name }) => name), "offline"];

const findServer = (options: ChooseProviderOptions, name: string): Server => {
  const server = options.servers.find((candidate) => candidate.name === name);
  if (!server) throw unknownProvider(options, name);
  return server;
};

const unknownProvider = (options: ChooseProviderOptions, name: string): UserError =>
  new UserError(options.strings.config.unknownProvider(name, nearest(name, names(options)), names(options)), {
    exitCode: EXIT.config,
  });

/** The server for a model that is named without a provider. */
const serverForModel = (options: ChooseProviderOptions, model: string): Server => {
  const vendor = options.servers.find(({ name }) => name === vendorOf(model));
  if (vendor && isUsable(options, vendor)) return vendor;
  const candidate = serverByVariable(options) ?? serverByKey(options);
  // A vendor's own address knows only the vendor's models; a gateway may know any.
  const isElsewhere = candidate && vendor && options.credentials.get(candidate.name)?.isOwnAddress;
  if (candidate && !(isElsewhere && candidate.name !== "openrouter")) return candidate;
  return vendor ?? findServer(options, model.startsWith("claude") ? "anthropic" : "openai");
};

const serverByVariable = (options: ChooseProviderOptions): Server | undefined => {
  const named = options.servers.filter(({ name }) => options.credentials.get(name)?.model);
  return named.find((server) => isUsable(options, server)) ?? named[0];
};

const serverByKey = (options: ChooseProviderOptions): Server | undefined =>
  options.servers.find(({ name, isLocal }) => {
    const credential = options.credentials.get(name);
    return !isLocal && (credential?.key || credential?.withheldKey);
  });

const isUsable = ({ credentials }: ChooseProviderOptions, server: Server): boolean =>
  server.isLocal || Boolean(credentials.get(server.name)?.key);

const chosen = async (
  options: ChooseProviderOptions,
  server: Server,
  model: string | undefined,
): Promise<ModelChoice> => {
  const credential = options.credentials.get(server.name);
  if (!server.isLocal && !credential?.key) throw missingKey(options, server, credential);
  const apiKey = credential?.key?.value ?? "";
  const baseUrl = credential?.baseUrl ?? server.baseUrl;
  const isOwnAddress = credential?.isOwnAddress ?? true;
  const asked = model ?? credential?.model?.value ?? (isOwnAddress ? server.defaultModel : null);
  const id = asked === null ? await onlyModel(options, server, baseUrl, apiKey) : ownId(asked, server, isOwnAddress);
  const info = lookupModel(server.name, id, options.overrides);
  const isUnknown = info.contextWindow === null && info.prices === null;
  const notes = isUnknown ? [options.strings.config.unknownModel(server.name, id)] : [];
  return { kind: "model", server, model: id, apiKey, baseUrl, isOwnAddress, info, notes };
};

/** The id as the server has it: `openai/gpt-5` is `gpt-5` at OpenAI's own address; a gateway may want it whole. */
const ownId = (model: string, server: Server, isOwnAddress: boolean): string => {
  const prefix = `${server.name}/`;
  const rest = model.startsWith(prefix) ? model.slice(prefix.length) : null;
  // Every id there has a vendor's part; its own models have "openrouter/".
  if (server.name === "openrouter") return rest?.includes("/") ? rest : model.includes("/") ? model : prefix + model;
  return isOwnAddress && rest ? rest : model;
};

const missingKey = (
  options: ChooseProviderOptions,
  server: Server,
  credential: ServerCredential | undefined,
): UserError => {
  const { config, provider } = options.strings;
  const variable = server.keyVariable ?? "";
  if (!credential?.withheldKey) {
    return new UserError(provider.missingKey(variable), {
      exitCode: EXIT.auth,
      hint: config.missingKeyHint(server.name),
    });
  }
  const { withheldKey, baseUrl, baseUrlOrigin } = credential;
  return new UserError(config.keyWithheld(variable, withheldKey.origin, shownAddress(baseUrl), baseUrlOrigin), {
    exitCode: EXIT.auth,
    hint: config.keyWithheldHint(variable, server.baseUrlVariable ?? "baseUrl"),
  });
};

const MAX_LISTED = 30;

/** The one model that the server lists. */
const onlyModel = async (
  options: ChooseProviderOptions,
  server: Server,
  baseUrl: string,
  apiKey: string,
): Promise<string> => {
  const { config } = options.strings;
  const hint = config.modelHint(server.name);
  let models: readonly string[];
  try {
    models = await options.listModels(server, { baseUrl, apiKey, timeoutMs: LIST_TIMEOUT_MS });
  } catch (error) {
    const reason = errorMessage(error);
    const exitCode = error instanceof ProviderError && error.kind === "auth" ? EXIT.auth : EXIT.config;
    throw new UserError(config.modelsNotListed(server.name, shownAddress(baseUrl), reason), {
      exitCode,
      hint,
      cause: error,
    });
  }
  const [only] = models;
  if (only !== undefined && models.length === 1) return only;
  throw new UserError(config.modelNeeded(server.name, shownAddress(baseUrl), shortened(models)), {
    exitCode: EXIT.config,
    hint,
  });
};

const shortened = (models: readonly string[]): readonly string[] =>
  models.length <= MAX_LISTED ? models : [...models.slice(0, MAX_LISTED), `… (${models.length})`];

/** The first local server that answers with one model. One with several is named in a note: nobody has chosen among them. */
const localServer = async (options: ChooseProviderOptions): Promise<ProviderChoice> => {
  const locals = options.servers.filter(({ isLocal }) => isLocal);
  const answers = await Promise.all(
    locals.map(async (server) => {
      const credential = options.credentials.get(server.name);
      try {
        const models = await options.listModels(server, {
          baseUrl: credential?.baseUrl ?? server.baseUrl,
          apiKey: credential?.key?.value ?? "",
          timeoutMs: PROBE_TIMEOUT_MS,
        });
        return { server, models };
      } catch {
        // No answer: the server is not running, which is the ordinary case.
        return { server, models: [] };
      }
    }),
  );
  const single = answers.find(({ models }) => models.length === 1);
  if (single) return chosen(options, single.server, single.models[0]);
  const notes = answers
    .filter(({ models }) => models.length > 1)
    .map(({ server, models }) => options.strings.config.severalLocalModels(server.name, shortened(models)));
  return { kind: "offline", notes };
};
