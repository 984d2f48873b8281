import { isAbsolute, join, resolve } from "node:path";
import { resolveLinks } from "../workspace/resolve-links.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { gitPlaces } from "./git-places.ts";
import { placeKind } from "./place-kind.ts";
import type { SandboxPolicy } from "./sandbox.ts";

export type PolicyOptions = {
  readonly workspace: Workspace;
  readonly homeDir: string;
  /** `/tmp`, and what TMPDIR names. */
  readonly tempDirs: readonly string[];
  /** Of the settings: absolute, `~/…`, or from the work directory. */
  readonly writable: readonly string[];
  readonly network: "on" | "off";
};

/** What programs keep for the next time. */
export const CACHES = [".cache", join(".npm", "_cacache")];

// Whoever reaches one of these has a program outside act for him: as root, as the person, or in the person's terminal.
const CONTROL_PLACES = [
  "/run/containerd",
  "/run/crio",
  "/run/dbus",
  "/run/docker.sock",
  "/run/libvirt",
  "/run/podman",
  "/run/screen",
  "/run/snapd.socket",
  "/run/systemd/private",
  "/run/tmux",
  "/run/user",
  "/var/lib/incus",
  "/var/lib/lxd",
  "/var/snap/lxd",
];

/**
 * What the next command may do. Looks at the disk: links are followed, and the repository is found.
 * @throws nothing: a place that cannot be followed is left out, and so is read-only.
 */
export const createPolicy = (options: PolicyOptions): SandboxPolicy => {
  const { workspace, homeDir, tempDirs, network } = options;
  const { workDir } = workspace;
  const git = gitPlaces(workDir);
  const named = options.writable.map((path) =>
    resolve(
      workDir,
      path.replace(/^~(?=$|\/)/, () => homeDir),
    ),
  );
  const writable = real([
    ...workspace.writable.map((place) => place.real),
    ...tempDirs.filter(isAbsolute),
    ...CACHES.map((name) => join(homeDir, name)),
    ...named,
    ...git.writable,
  ]);
  return {
    workDir,
    writable,
    readOnly: real([join(workDir, ".harness9"), ...git.readOnly]),
    hidden: [
      ...real([...workspace.sensitive, workspace.harnessHome.real]),
      // Somebody may need one of them and say so; the sensitive places stay closed.
      ...real([...CONTROL_PLACES, ...terminalSockets()]).filter(
        (place) => placeKind(place) !== "missing" && !real(named).includes(place),
      ),
    ],
    visible: real(workspace.readable.map((place) => place.real)),
    network,
  };
};

const terminalSockets = (): readonly string[] => {
  const uid = process.getuid?.();
  return uid === undefined ? [] : [`/tmp/tmux-${uid}`];
};

const real = (paths: readonly string[]): readonly string[] => [
  ...new Set(
    paths.flatMap((path) => {
      try {
        return [resolveLinks(path)];
      } catch {
        return []; // links in a circle
      }
    }),
  ),
];
