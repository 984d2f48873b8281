import { type BytePath, isPlainName } from "./byte-path.ts";
import { isObjectHash } from "./object-bytes.ts";
import type { State } from "./tree.ts";

/** What can be put at a path: no folder, and nothing that is not in the store. */
export type KeptState = Exclude<State, { type: "out" }>;

/** One path to change. Plain data: a plan may have been written to a journal and read again. */
export type RestoreAction = { readonly path: BytePath; readonly from: KeptState; readonly to: KeptState };

/** Null for what is no action, or one that leads out of the work directory or into a `.git`. */
export const parseAction = (value: unknown): RestoreAction | null => {
  if (!isRecord(value)) return null;
  const { path } = value;
  const [from, to] = [parseState(value["from"]), parseState(value["to"])];
  if (typeof path !== "string" || /[^\x01-\xff]/.test(path) || !path.split("/").every(isPlainName)) return null;
  return from && to ? { path, from, to } : null;
};

const parseState = (value: unknown): KeptState | null => {
  if (!isRecord(value)) return null;
  const { type, hash, mode, size, target } = value;
  if (type === "none") return { type };
  if (type === "link") return typeof target === "string" && isLinkTarget(target) ? { type, target } : null;
  if (type !== "file" || typeof hash !== "string" || !isObjectHash(hash)) return null;
  return isMode(mode) && typeof size === "number" ? { type, hash, mode, size } : null;
};

const isLinkTarget = (target: string): boolean => target !== "" && !/[^\x01-\xff]/.test(target);
const isMode = (mode: unknown): mode is number =>
  typeof mode === "number" && Number.isInteger(mode) && mode >= 0 && mode <= 0o777;
const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;
