import { resolveSecrets, secretValues, storeKey } from "../config/secrets.ts";
import type { Variable, Variables } from "../config/variables.ts";
import type { Server } from "../providers/servers.ts";
import type { LoginProvider } from "../session/chat.ts";
import { EXIT } from "../text/exit.ts";
import { nearest } from "../text/nearest.ts";
import { UserError } from "../text/user-error.ts";
import type { Setup } from "./setup.ts";
import { writing } from "./writing.ts";

/** The providers that a key can be stored for. */
export const loginProviders = ({ servers, secrets }: Setup): readonly LoginProvider[] =>
  servers.flatMap(({ name, keyVariable, isLocal }) =>
    keyVariable === null || isLocal ? [] : [{ name, keyVariable, hasKey: Boolean(secrets.credentials.get(name)?.key) }],
  );

export type Login = {
  /** As if the key had been there from the start; what the environment says about it counts again at the next one. */
  readonly setup: Setup;
  /** What the person should know. */
  readonly message: string;
};

/** Stores a provider's key in the person's own `.env`. @throws UserError */
export const storeLogin = async (setup: Setup, provider: string, text: string): Promise<Login> => {
  const { paths, strings, variables, servers, trusted } = setup;
  const variable = keyVariable(setup, provider);
  const key = text.trim();
  await writing(paths.dotenv, strings.cli, () => storeKey(paths.dotenv, variable, key, strings.config));
  const known = withVariable(variables, { name: variable, value: key, place: "home", origin: paths.dotenv });
  const stored = strings.cli.keyStored(variable, paths.dotenv);
  const other = variables.find(variable).find(({ place, value }) => place === "environment" && value !== key);
  return {
    setup: {
      ...setup,
      variables: known,
      secrets: resolveSecrets({ variables: known, providers: servers, trusted, strings: strings.config }),
      secretValues: secretValues(known, servers),
    },
    message: other === undefined ? stored : `${stored}\n${strings.chat.keyInEnvironment(variable)}`,
  };
};

const keyVariable = ({ servers, strings }: Setup, provider: string): string => {
  const server: Server | undefined = servers.find(({ name }) => name === provider);
  if (!server) {
    const names = servers.map(({ name }) => name);
    const message = strings.config.unknownProvider(provider, nearest(provider, names), names);
    throw new UserError(message, { exitCode: EXIT.config });
  }
  if (server.keyVariable === null) throw new UserError(strings.cli.keyNotNeeded(provider), { exitCode: EXIT.usage });
  return server.keyVariable;
};

const withVariable = (variables: Variables, first: Variable): Variables => ({
  ...variables,
  find: (name) => (name === first.name ? [first, ...variables.find(name)] : variables.find(name)),
});
