import { join, resolve } from "node:path";
import { resolveLinks } from "./resolve-links.ts";

/** A folder as it was named and where it really is (`/tmp` may be `/private/tmp`). */
export type Place = { readonly named: string; readonly real: string };

/** Where the file tools may work: plain data. */
export type Workspace = {
  /** The real path of the work directory; relative paths start here. */
  readonly workDir: string;
  /** The work directory and the folders of `--add-dir`. */
  readonly writable: readonly Place[];
  /** Folders that may be read beside them: the session's outputs, skills. */
  readonly readable: readonly Place[];
  /** Files and folders that no tool may touch. */
  readonly sensitive: readonly string[];
  /** Our own folder: sensitive too, but for what `readable` opens. */
  readonly harnessHome: Place;
};

export type WorkspaceOptions = {
  readonly workDir: string;
  readonly homeDir: string;
  readonly harnessHome: string;
  readonly addedDirs?: readonly string[];
  readonly readableDirs?: readonly string[];
};

const SENSITIVE_IN_HOME = [".ssh", ".aws", ".kube", ".gnupg", ".netrc", join(".config", "gcloud")];

/**
 * The workspace of a session. Looks the symlinks up once; folders need not exist yet.
 * @throws the system's error when a folder cannot be looked up.
 */
export const createWorkspace = (options: WorkspaceOptions): Workspace => {
  const workDir = place(options.workDir);
  const inWorkDir = (path: string): Place => place(resolve(workDir.real, path));
  return {
    workDir: workDir.real,
    writable: [workDir, ...(options.addedDirs ?? []).map(inWorkDir)],
    readable: (options.readableDirs ?? []).map(inWorkDir),
    sensitive: SENSITIVE_IN_HOME.flatMap((name) => {
      const { named, real } = place(join(options.homeDir, name));
      return named === real ? [real] : [named, real, join(resolveLinks(resolve(options.homeDir)), name)];
    }),
    harnessHome: place(options.harnessHome),
  };
};

const place = (path: string): Place => {
  const named = resolve(path);
  return { named, real: resolveLinks(named) };
};
