import type { PlaceKind } from "./place-kind.ts";
import type { SandboxPolicy } from "./sandbox.ts";

export type BubblewrapOptions = {
  readonly policy: SandboxPolicy;
  readonly kindOf: (path: string) => PlaceKind;
  readonly isRoot: boolean;
};

// What root keeps, so that files of other users in the work directory stay usable. None of these reaches a mount.
const ROOT_CAPABILITIES = [
  "CAP_CHOWN",
  "CAP_DAC_OVERRIDE",
  "CAP_FOWNER",
  "CAP_FSETID",
  "CAP_KILL",
  "CAP_NET_BIND_SERVICE",
  "CAP_SETGID",
  "CAP_SETUID",
];

/**
 * The policy as arguments of bwrap, up to the command. The file system is mounted read-only, then the places one over
 * the other from the shallowest to the deepest, so that the most particular one decides.
 * No --die-with-parent: background processes live until the session ends. No --new-session: the command has no
 * terminal already, and it is found by its session.
 */
export const bubblewrapArguments = ({ policy, kindOf, isRoot }: BubblewrapOptions): readonly string[] => {
  const mounts = mountsOf(policy, kindOf);
  return [
    ...["--ro-bind", "/", "/"],
    ...mounts.flatMap(({ args }) => args),
    // At the end: mount points below them had to be made.
    ...mounts.flatMap(({ path, isOwn }) => (isOwn ? ["--remount-ro", path] : [])),
    ...["--unshare-pid", "--unshare-ipc"],
    ...(policy.network === "off" ? ["--unshare-net"] : []),
    ...["--cap-drop", "ALL"],
    ...(isRoot ? ROOT_CAPABILITIES.flatMap((name) => ["--cap-add", name]) : []),
    ...["--chdir", policy.workDir],
    "--",
  ];
};

/** Since bubblewrap 0.4. The note of the exit code is left out where the command could not be started. */
export const statusArguments = (fd: number): readonly string[] => ["--json-status-fd", String(fd)];

// Who is root may write these without any capability, and so set the whole machine.
const KERNEL_PLACES = ["/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/fs"];

/** `isOwn`: a file system of the sandbox's own, which is to be read-only. */
type Mount = { readonly path: string; readonly args: readonly string[]; readonly isOwn: boolean };

const mountsOf = (policy: SandboxPolicy, kindOf: BubblewrapOptions["kindOf"]): readonly Mount[] => {
  const there = (paths: readonly string[]) => paths.filter((path) => kindOf(path) !== "missing");
  const bind = (option: string) => (path: string) => ({ path, args: [option, path, path], isOwn: false });
  const mounts: Mount[] = [
    { path: "/dev", args: ["--dev", "/dev", "--tmpfs", "/dev/shm"], isOwn: true },
    // Only the sandbox's own processes are in it: no environment of ours, no way out through another one's root.
    {
      path: "/proc",
      args: ["--proc", "/proc", ...KERNEL_PLACES.flatMap((path) => ["--ro-bind-try", path, path])],
      isOwn: false,
    },
    ...there(policy.writable).map(bind("--bind")),
    ...there(policy.readOnly).map(bind("--ro-bind")),
    ...there(policy.hidden).map((path) =>
      kindOf(path) === "folder"
        ? { path, args: ["--tmpfs", path], isOwn: true }
        : // A device on a mount without devices: it cannot even be opened.
          { path, args: ["--ro-bind", "/dev/null", path], isOwn: false },
    ),
    ...there(policy.visible).map(bind("--ro-bind")),
  ];
  // Sorting is stable: of two for the same place, the later and stricter one decides.
  return mounts.sort((a, b) => depth(a.path) - depth(b.path));
};

const depth = (path: string): number => path.split("/").filter((name) => name !== "").length;
