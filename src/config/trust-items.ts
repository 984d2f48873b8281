import { createHash } from "node:crypto";
import { join } from "node:path";
import type { Strings } from "../text/strings.ts";
import type { ConfigEntry } from "./config.ts";
import { ConfigError } from "./config-error.ts";
import { readJsonc } from "./jsonc.ts";
import type { Variable } from "./variables.ts";

/** One thing in a folder that counts only where a person trusts it. */
export type TrustItem = {
  /** `path:line` */
  readonly origin: string;
  /** A setting's key, a variable, or the name of a server or skill. */
  readonly name: string;
  readonly value: unknown;
};

export type TrustItemsOptions = {
  /** See `Config.proposals`. */
  readonly proposals: readonly ConfigEntry[];
  /** See `Secrets.waiting`. */
  readonly waiting: readonly Variable[];
  readonly servers: readonly TrustItem[];
  readonly skills?: readonly TrustItem[];
};

export const trustItems = ({ proposals, waiting, servers, skills = [] }: TrustItemsOptions): readonly TrustItem[] => [
  ...proposals.map(({ key, value, origin }) => ({ origin, name: key, value })),
  ...waiting.map(({ name, value, origin }) => ({ origin, name, value })),
  ...servers,
  ...skills,
];

/** The servers that a project's `.mcp.json` would start. A file that cannot be understood starts none. */
export const projectServers = async (workDir: string, strings: Strings["config"]): Promise<readonly TrustItem[]> => {
  const path = join(workDir, ".mcp.json");
  const properties = await readJsonc(path, strings).catch((error: unknown) => {
    if (error instanceof ConfigError) return null;
    throw error;
  });
  return (properties ?? [])
    .filter(({ key }) => key === "mcpServers")
    .flatMap(({ value, line }) =>
      typeof value === "object" && value !== null
        ? Object.entries(value).map(([name, server]) => ({ origin: `${path}:${line}`, name, value: server as unknown }))
        : [],
    );
};

/** Changes with anything that trust would switch on, and with nothing else: a new line above it is no news. */
export const trustDigest = (items: readonly TrustItem[]): string => {
  const known = items.map(({ origin, name, value }) => [origin.replace(/:\d+$/, ""), name, value]);
  return createHash("sha256").update(JSON.stringify(known)).digest("hex");
};
