const NUL_REDIRECTION = /((?:\d*|&)>>?|<)(\s*)nul(?=$|[\s;&|)])/gi;

/**
 * On Windows, `> nul` as written for cmd.exe. In Git Bash it would make a file named nul, which Windows cannot
 * delete; elsewhere `nul` is a name like any other and the command stays.
 */
export const withNullDevice = (command: string, platform: NodeJS.Platform): string =>
  platform === "win32" ? command.replace(NUL_REDIRECTION, "$1$2/dev/null") : command;
