import type { ModelChoice, NamedChoice, ProviderChoice } from "../providers/choose-provider.ts";
import { knownModels, lookupModel, vendorOf } from "../providers/models.ts";
import { listModels } from "../providers/models-endpoint.ts";
import type { Fetch } from "../providers/transport.ts";
import type { ListedModel } from "../session/chat.ts";
import type { Setup } from "./setup.ts";
import { withTimeLimit } from "./time-limit.ts";

const LIST_TIMEOUT_MS = 5000;

/**
 * What a person means by the name of a model, the strongest first: a provider alone, `provider/model`, or a model. A bare
 * model is the present provider's, unless that is another vendor's own address.
 */
export const namedModel = (name: string, choice: ProviderChoice, setup: Setup): readonly NamedChoice[] => {
  if (name === "offline" || setup.servers.some((server) => server.name === name))
    return namedProvider(name, choice, setup);
  if (choice.kind === "offline") return [{ model: name }];
  const { server, isOwnAddress } = choice;
  const vendor = vendorOf(name);
  const isElsewhere = isOwnAddress && !server.isLocal && vendor !== null && vendor !== server.name;
  return isElsewhere ? [{ model: name }] : [{ model: name }, { provider: server.name }];
};

/** A provider with the model that is in use there, or that the settings name for it. */
export const namedProvider = (provider: string, choice: ProviderChoice, { config }: Setup): readonly NamedChoice[] => {
  if (choice.kind === "model" && choice.server.name === provider) return [{ provider, model: choice.model }];
  return [{ provider }, ...config.named.filter((named) => named.provider === provider)];
};

/** The models that the present endpoint lists, then the default of every other provider with a key. */
export const listChatModels = async (
  setup: Setup,
  choice: ProviderChoice,
  fetch: Fetch,
  signal: AbortSignal,
): Promise<readonly ListedModel[]> => {
  const overrides = setup.config.settings.models;
  const current = choice.kind === "model" ? choice : undefined;
  const listed = (provider: string, id: string): ListedModel => {
    const { contextWindow, prices } = lookupModel(provider, id, overrides);
    const isCurrent = current?.server.name === provider && current.model === id;
    return { id, provider, contextWindow, prices, isCurrent };
  };
  const own = current ? (await ownModels(current, fetch, signal)).map((id) => listed(current.server.name, id)) : [];
  const others = setup.servers.flatMap(({ name, defaultModel }) => {
    const credential = setup.secrets.credentials.get(name);
    if (name === current?.server.name || !credential?.key) return [];
    const id = credential.model?.value ?? (credential.isOwnAddress ? defaultModel : null);
    return id === null ? [] : [listed(name, id)];
  });
  return [...own, ...others];
};

/** In the endpoint's order; where it lists none, the vendor's as the table has them. The model in use is always there. */
const ownModels = async (choice: ModelChoice, fetch: Fetch, signal: AbortSignal): Promise<readonly string[]> => {
  const { server, baseUrl, apiKey, model, isOwnAddress } = choice;
  let ids: readonly string[];
  try {
    ids = await withTimeLimit(LIST_TIMEOUT_MS, signal, (limited) =>
      listModels(baseUrl, apiKey, fetch, limited, server.dialect),
    );
  } catch {
    // Not every server can list its models; what a vendor has is in our own table.
    ids = isOwnAddress ? knownModels(server.name) : [];
  }
  return ids.includes(model) ? ids : [model, ...ids];
};
