import { dirname } from "node:path";
import type { SandboxPolicy } from "./sandbox.ts";

/**
 * The folders on the way from a writable place down to the next place of the policy. A mount cannot be moved away, but
 * a folder above it can, with all that is mounted below, and the next command would find another one in its stead.
 */
export const foldersBetween = ({ writable, readOnly, hidden }: SandboxPolicy): readonly string[] => {
  const strict = [...readOnly, ...hidden];
  const way = (folder: string): readonly string[] | null => {
    if (strict.includes(folder)) return null;
    if (writable.includes(folder)) return [];
    return folder === dirname(folder) ? null : (way(dirname(folder))?.concat(folder) ?? null);
  };
  return [...new Set([...strict, ...writable].flatMap((path) => way(dirname(path)) ?? []))];
};

/**
 * The policy without what a command that lives could make another place of, between the look at the disk and the
 * mount: a folder that is no mount for it. What may be written then is so by the folder above; what may not, seems empty.
 */
export const settledFor = (policy: SandboxPolicy, living: Iterable<SandboxPolicy>): SandboxPolicy => {
  const others = [...living];
  const stays = (path: string): boolean => !others.some((other) => canReplace(path, other));
  const { writable, readOnly, hidden, visible } = policy;
  return {
    ...policy,
    writable: writable.filter(stays),
    readOnly: readOnly.filter(stays),
    hidden: [...hidden, ...readOnly.filter((path) => !stays(path))],
    visible: visible.filter(stays),
  };
};

/** Whether the next place above it is one that the command may write. */
const canReplace = (path: string, { writable, readOnly, hidden, visible }: SandboxPolicy): boolean => {
  const held = [...readOnly, ...hidden, ...visible];
  for (let folder = path; ; folder = dirname(folder)) {
    if (held.includes(folder)) return false;
    if (writable.includes(folder)) return folder !== path;
    if (folder === dirname(folder)) return false;
  }
};
