import type { SandboxPolicy } from "./sandbox.ts";

export type RefusalKind = "write" | "hidden" | "network" | "privilege";

const READ_ONLY = /read-only file system|\bEROFS\b|只读文件系统/i;
const BUSY = /device or resource busy|\bEBUSY\b|设备或资源忙/i;
const DENIED = /permission denied|operation not permitted|\bE(?:ACCES|PERM)\b|权限不够|不允许的操作/i;
const ABSENT = /no such file|\bENOENT\b|cannot|can't|could not|couldn't|unable|failed|没有那个文件|无法/i;
const NO_NETWORK =
  /name resolution|name or service not known|could not resolve|couldn't resolve|unable to resolve|no such host|getaddrinfo|\bENOTFOUND\b|\bEAI_AGAIN\b|network is unreachable|\bENETUNREACH\b|nodename nor servname|failed to lookup address|dns error|域名解析|网络不可达/i;
const NO_PRIVILEGE = /"no new privileges" flag|\bno_new_privs\b|must be owned by uid 0 and have the setuid bit/i;

/**
 * What the sandbox seems to have refused a command that failed, by what it printed: programs have no other way to say
 * it. A mistake costs a paragraph or a question, and changes no result.
 */
export const findRefusal = (
  output: string,
  policy: SandboxPolicy,
  name: "bubblewrap" | "seatbelt",
): RefusalKind | null => {
  const lines = output.split("\n");
  const some = (...tests: readonly ((line: string) => boolean)[]) =>
    lines.some((line) => tests.every((test) => test(line)));
  const says = (pattern: RegExp) => (line: string) => pattern.test(line);
  const names = (paths: readonly string[]) => (line: string) => paths.some((path) => mentions(line, path));

  if (some(names(policy.hidden), (line) => DENIED.test(line) || ABSENT.test(line))) return "hidden";
  if (some(says(READ_ONLY)) || some(says(BUSY), names(policy.readOnly.map(lastName)))) return "write";
  // Seatbelt has this one word for everything that it refuses.
  if (name === "seatbelt" && some(says(/operation not permitted|\bEPERM\b/i))) return "write";
  if (some(says(NO_PRIVILEGE))) return "privilege";
  if (policy.network === "off" && some(says(NO_NETWORK))) return "network";
  return null;
};

const lastName = (path: string): string => path.slice(path.lastIndexOf("/") + 1);

/** The path itself or something below it, not one that only begins like it. `/run` is `/var/run` as well. */
const mentions = (line: string, path: string): boolean => {
  for (let at = line.indexOf(path); at !== -1; at = line.indexOf(path, at + 1)) {
    if (!/^(?:[\w-]|\.\w)/.test(line.slice(at + path.length))) return true;
  }
  return false;
};
