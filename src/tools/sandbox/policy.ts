import { isAbsolute, join, resolve } from "node:path";
import { isSymbolicLink, resolveLinks } from "../workspace/resolve-links.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { gitPlaces } from "./git-places.ts";
import { isIn, lookedAtOnce, placeKind } from "./place-kind.ts";
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
  "/run/buildkit",
  "/run/containerd",
  "/run/crio",
  "/run/dbus",
  "/run/docker",
  "/run/docker.sock",
  "/run/k3s",
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
 * What the next command may do, at each call. Looks at the disk: links are followed, and repositories are found.
 * What may be written is settled before the first command: a link that a command makes leads to nothing new.
 * @throws nothing: a place that cannot be followed is left out, and so is read-only.
 */
export const createPolicy = (options: PolicyOptions): (() => SandboxPolicy) => {
  const { workspace, homeDir, tempDirs, network } = options;
  const { workDir } = workspace;
  const folders = workspace.writable.map((place) => place.real);
  const named = real(
    options.writable.map((path) =>
      resolve(
        workDir,
        path.replace(/^~(?=$|\/)/, () => homeDir),
      ),
    ),
  );
  const first = real([
    ...folders,
    ...tempDirs.filter(isAbsolute),
    ...CACHES.map((name) => join(homeDir, name)),
    ...named,
  ]);
  // One that a command would have to make could be anything then, and may be written where it is.
  const settled = first.filter(
    (path) => placeKind(path) !== "missing" || !first.some((folder) => folder !== path && isIn(folder, path)),
  );
  return () => {
    const isLink = lookedAtOnce(isSymbolicLink);
    const realNow = (paths: readonly string[]): readonly string[] => real(paths, isLink);
    const closed = realNow([...workspace.sensitive, workspace.harnessHome.real]);
    // A link in a repository, which a command has made, does not open a hidden place.
    const isOpen = (path: string): boolean =>
      !closed.some(
        (place) => isIn(place, path) && !settled.some((folder) => isIn(place, folder) && isIn(folder, path)),
      );
    const git = folders.map(gitPlaces);
    return {
      workDir,
      writable: [
        ...new Set([
          ...settled.filter((path) => realNow([path])[0] === path),
          // Real paths as they were found: looked up again, they could be links by now.
          ...git.flatMap((one) => one.writable).filter(isOpen),
        ]),
      ],
      readOnly: realNow([join(workDir, ".harness9"), ...git.flatMap((one) => one.readOnly)]).filter(isOpen),
      hidden: [
        ...closed,
        // Somebody may need one of them and say so; the sensitive places stay closed.
        ...realNow([...CONTROL_PLACES, ...terminalSockets()].filter((place) => placeKind(place) !== "missing")).filter(
          (place) => !named.includes(place),
        ),
      ],
      visible: realNow(workspace.readable.map((place) => place.real)),
      network,
    };
  };
};

const terminalSockets = (): readonly string[] => {
  const uid = process.getuid?.();
  return uid === undefined ? [] : [`/tmp/tmux-${uid}`];
};

const real = (paths: readonly string[], isLink = isSymbolicLink): readonly string[] => [
  ...new Set(
    paths.flatMap((path) => {
      try {
        return [resolveLinks(path, isLink)];
      } catch {
        return []; // links in a circle
      }
    }),
  ),
];
