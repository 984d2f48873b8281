import { dirname } from "node:path";
import * as z from "zod";
import type { Strings } from "../text/strings.ts";
import { ConfigError } from "./config-error.ts";
import { editFile } from "./edit-file.ts";
import { readJsonc } from "./jsonc.ts";
import { ensurePrivateDir } from "./paths.ts";
import { removeFromList } from "./remove-from-list.ts";

/**
 * What a person has said about one folder: `trust.json` holds a record for each, by its real path. It stands in our home,
 * which neither the project nor a file tool can write.
 */
const recordSchema = () =>
  z.object({
    /** Whether the answer was yes; without one nobody has been asked yet. */
    trusted: z.boolean().optional(),
    /** What the answer was about: see `trustDigest`. */
    digest: z.string().optional(),
    decidedAt: z.string().optional(),
    /** Rules that were saved for this folder alone. */
    allow: z.array(z.string()).readonly().default([]),
    deny: z.array(z.string()).readonly().default([]),
  });

export type TrustRecord = Readonly<z.output<ReturnType<typeof recordSchema>>> & {
  /** `path:line`, or the path where the folder has no record. */
  readonly origin: string;
};

export type TrustFile = {
  readonly path: string;
  /** The real path of the folder. */
  readonly workDir: string;
  readonly strings: Strings["config"];
};

/** @throws ConfigError for a file that cannot be read: nobody knows what it says. */
export const readTrust = async ({ path, workDir, strings }: TrustFile): Promise<TrustRecord> => {
  const property = (await readJsonc(path, strings))?.find(({ key }) => key === workDir);
  if (!property) return { allow: [], deny: [], origin: path };
  const origin = `${path}:${property.line}`;
  const parsed = recordSchema().safeParse(property.value);
  if (parsed.success) return { ...parsed.data, origin };
  const [issue] = parsed.error.issues;
  throw new ConfigError(strings.invalid(origin, [workDir, ...(issue?.path ?? [])].join("."), issue?.message ?? ""));
};

/** Keeps the answer to the trust question. */
export const saveDecision = async (
  file: TrustFile,
  { trusted, digest, time }: { readonly trusted: boolean; readonly digest: string; readonly time: Date },
): Promise<void> => {
  const { allow, deny } = await readTrust(file);
  const decidedAt = time.toISOString();
  await writeRecord(file, { trusted, digest, decidedAt, allow, deny });
};

/** Keeps a rule for this folder. Returns where. */
export const saveProjectRule = async (file: TrustFile, list: "allow" | "deny", rule: string): Promise<string> => {
  const { origin, ...record } = await readTrust(file);
  if (!record[list].includes(rule)) await writeRecord(file, { ...record, [list]: [...record[list], rule] });
  return (await readTrust(file)).origin;
};

/** Takes a saved rule of this folder out; all else in the file stays as it is. */
export const removeProjectRule = async (file: TrustFile, list: "allow" | "deny", rule: string): Promise<void> => {
  // Nobody knows what a broken record says.
  await readTrust(file);
  await removeFromList(file.path, [file.workDir, list], rule, file.strings);
};

const writeRecord = async (
  { path, workDir, strings }: TrustFile,
  record: Omit<TrustRecord, "origin">,
): Promise<void> => {
  await ensurePrivateDir(dirname(path));
  await editFile(path, [workDir], record, strings);
};
