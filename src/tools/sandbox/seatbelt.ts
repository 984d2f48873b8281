import type { SandboxPolicy } from "./sandbox.ts";

/** What must stay writable for a program without a terminal. */
const DEVICES = `(allow file-write*
  (literal "/dev/null")
  (literal "/dev/zero")
  (literal "/dev/stdout")
  (literal "/dev/stderr")
  (literal "/dev/dtracehelper")
  (subpath "/dev/fd"))`;

// Other programs would act for the command, outside: by an Apple event, by being opened, by a signal. And what `ps`
// shows of a process is its environment too.
const OTHERS = `(deny appleevent-send)
(deny lsopen)
(deny signal)
(allow signal (target same-sandbox))
(deny process-info*)
(allow process-info* (target same-sandbox))`;

/**
 * The policy as arguments of sandbox-exec, up to the command. In a profile the last rule that fits decides, so the
 * strictest stand last. Paths are parameters: no name can break out of the text.
 */
export const seatbeltArguments = (policy: SandboxPolicy): readonly string[] => {
  const parameters: string[] = [];
  const places = (name: string, paths: readonly string[]): string =>
    paths
      .map((path, index) => {
        parameters.push("-D", `${name}_${index}=${path}`);
        return `\n  (subpath (param "${name}_${index}"))`;
      })
      .join("");
  const rule = (what: string, name: string, paths: readonly string[]): readonly string[] =>
    paths.length === 0 ? [] : [`(${what}${places(name, paths)})`];
  const profile = [
    "(version 1)",
    "(allow default)",
    "(deny file-write*)",
    DEVICES,
    ...rule("allow file-write*", "WRITABLE", policy.writable),
    ...rule("deny file-write*", "READ_ONLY", policy.readOnly),
    ...rule("deny file-read* file-write*", "HIDDEN", policy.hidden),
    ...rule("allow file-read*", "VISIBLE", policy.visible),
    OTHERS,
    ...(policy.network === "off" ? ["(deny network*)"] : []),
  ];
  return [...parameters, "-p", profile.join("\n")];
};
