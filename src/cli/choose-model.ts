import { chooseProvider, type NamedChoice, type ProviderChoice } from "../providers/choose-provider.ts";
import { createListModels } from "../providers/create-provider.ts";
import type { Fetch } from "../providers/transport.ts";
import { type ModelInfo, UNKNOWN_MODEL } from "../schema/model.ts";
import { EXIT } from "../text/exit.ts";
import { UserError } from "../text/user-error.ts";
import type { Setup } from "./setup.ts";

export type ChooseOptions = {
  /** The strongest first. */
  readonly named: readonly NamedChoice[];
  readonly chat: boolean;
  readonly fetch: Fetch;
};

/** The provider and the model. @throws UserError also where a cost limit could not work. */
export const choose = async (setup: Setup, { named, chat, fetch }: ChooseOptions): Promise<ProviderChoice> => {
  const { servers, secrets, config, strings } = setup;
  const choice = await chooseProvider({
    servers,
    credentials: secrets.credentials,
    named,
    chat,
    listModels: createListModels(fetch),
    overrides: config.settings.models,
    strings,
  });
  checkPrices(setup, choice);
  return choice;
};

const checkPrices = ({ config, strings }: Setup, choice: ProviderChoice): void => {
  if (config.settings.maxCostUsd === null || choice.kind === "offline" || choice.info.prices !== null) return;
  const model = `${choice.server.name}/${choice.model}`;
  throw new UserError(strings.cli.unknownPrice(model), {
    exitCode: EXIT.config,
    hint: strings.cli.unknownPriceHint(model),
  });
};

/** What is known of a choice's model. */
export const modelInfo = (choice: ProviderChoice): ModelInfo => (choice.kind === "model" ? choice.info : UNKNOWN_MODEL);
