import type { OptionTable } from "./options.ts";

/** A program that runs the command in its arguments. */
export type Wrapper = OptionTable & {
  /** Words between the options and the command, as in `timeout 5 …`. */
  readonly operands?: number;
  readonly takesAssignments?: boolean;
  /** Input becomes further arguments, as in `xargs`. */
  readonly addsArguments?: boolean;
  /** Options with which nothing is run. */
  readonly asksOnly?: readonly string[];
};

// An option that is missing here makes the command uncertain. Some are missing on purpose: `env -S`, `sudo -i`, `time -o`.
export const WRAPPERS: Readonly<Record<string, Wrapper>> = {
  timeout: {
    flags: "v",
    values: "ks",
    long: ["foreground", "preserve-status", "verbose", "kill-after=", "signal="],
    operands: 1,
  },
  gtimeout: {
    flags: "v",
    values: "ks",
    long: ["foreground", "preserve-status", "verbose", "kill-after=", "signal="],
    operands: 1,
  },
  nohup: {},
  nice: { flags: "0123456789", values: "n", long: ["adjustment="] },
  ionice: { flags: "t", values: "cn", long: ["class=", "classdata=", "ignore"] },
  time: { flags: "pvlaq", values: "f", long: ["portability", "verbose", "format=", "quiet"] },
  stdbuf: { values: "ioe", long: ["input=", "output=", "error="] },
  setsid: { flags: "cfw", long: ["ctty", "fork", "wait"] },
  taskset: { flags: "ac", long: ["all-tasks", "cpu-list"], operands: 1 },
  caffeinate: { flags: "dimsu", values: "t" },
  unbuffer: { flags: "p" },
  fakeroot: {},
  env: { flags: "i0v", values: "u", long: ["ignore-environment", "unset=", "null"], takesAssignments: true },
  sudo: {
    flags: "EHnPSbkAB",
    values: "ugpCrtTU",
    long: ["preserve-env", "set-home", "non-interactive", "user=", "group="],
    takesAssignments: true,
  },
  doas: { flags: "nL", values: "u" },
  pkexec: { long: ["user="] },
  command: { flags: "p", asksOnly: ["-v", "-V", "-pv", "-pV"] },
  builtin: {},
  exec: { flags: "cl", values: "a" },
  busybox: {},
  toybox: {},
  xargs: {
    flags: "0rtpxo",
    values: "InPLdEsa",
    long: [
      "null",
      "no-run-if-empty",
      "verbose",
      "interactive",
      "exit",
      "open-tty",
      "replace=",
      "max-args=",
      "max-procs=",
      "max-lines=",
      "delimiter=",
      "eof=",
      "max-chars=",
      "arg-file=",
    ],
    addsArguments: true,
  },
};

/** They run their arguments, in too many spellings to follow. */
export const OPAQUE: ReadonlySet<string> = new Set(
  "parallel watch su runuser script flock chroot unshare nsenter systemd-run chrt strace ltrace gdb entr xvfb-run ssh-agent dbus-run-session proot bwrap firejail setpriv capsh start-stop-daemon daemonize rlwrap expect at batch".split(
    " ",
  ),
);

export const SHELLS: ReadonlySet<string> = new Set(
  "sh bash dash ash ksh mksh rbash zsh fish csh tcsh pwsh powershell nu elvish xonsh".split(" "),
);

/** Shells whose scripts read the same as bash's. */
export const LIKE_BASH: ReadonlySet<string> = new Set("sh bash dash ash rbash".split(" "));

/** Builtins that evaluate (part of) their arguments. */
export const EVALUATING: ReadonlySet<string> = new Set(
  "alias bind complete compgen enable hash mapfile readarray shopt set let declare typeset local export readonly read printf unset test [ wait getopts".split(
    " ",
  ),
);
