import { errorMessage } from "../text/error-message.ts";
import type { Strings } from "../text/strings.ts";
import { type DotenvEntry, readDotenv } from "./dotenv.ts";

/** Where a variable was found. The person's own places are the environment and `~/.harness9`. */
export type Place = "environment" | "home" | "project";

export type Variable = {
  readonly name: string;
  readonly value: string;
  readonly place: Place;
  /** `env NAME`, or `path:line` of a `.env` file. */
  readonly origin: string;
};

/** Everything that the environment and the two `.env` files say; nothing of it is ever put into `process.env`. */
export type Variables = {
  /** What each place says about `name`, the first to be believed first. An empty variable counts as unset. */
  readonly find: (name: string) => readonly Variable[];
  readonly warnings: readonly string[];
};

export type ReadVariablesOptions = {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly homeDotenv: string;
  readonly projectDotenv: string;
  readonly strings: Strings["config"];
};

/** Reads the `.env` files. One that cannot be read is a warning. */
export const readVariables = async (options: ReadVariablesOptions): Promise<Variables> => {
  const warnings: string[] = [];
  const read = async (path: string): Promise<ReadonlyMap<string, DotenvEntry>> => {
    try {
      return await readDotenv(path);
    } catch (error) {
      warnings.push(options.strings.unreadable(path, errorMessage(error)));
      return new Map();
    }
  };
  const [home, project] = await Promise.all([read(options.homeDotenv), read(options.projectDotenv)]);
  const fromFile = (place: Place, path: string, entry: DotenvEntry | undefined, name: string): Variable[] =>
    entry?.value ? [{ name, value: entry.value, place, origin: `${path}:${entry.line}` }] : [];
  const find = (name: string): readonly Variable[] => {
    const value = options.env[name];
    return [
      ...(value ? [{ name, value, place: "environment" as const, origin: `env ${name}` }] : []),
      ...fromFile("home", options.homeDotenv, home.get(name), name),
      ...fromFile("project", options.projectDotenv, project.get(name), name),
    ];
  };
  return { find, warnings };
};
