import { visibleControls } from "../../text/clean.ts";
import type { Strings } from "../../text/strings.ts";
import { plainHost } from "../plain-host.ts";

const HOSTS = /(?:\/\/|@)([^\s/?#:@"'`<>()|&;\\]+)/g;

/** What a person should know of texts that may look like something else than they are; hidden characters are shown beside. */
export const deceptions = (texts: readonly string[], strings: Strings["question"]): readonly string[] => [
  ...(texts.some(hidesSomething) ? [strings.hidden] : []),
  ...new Set(texts.flatMap(foreignHosts).map(([shown, real]) => strings.foreignHost(visibleControls(shown), real))),
];

const hidesSomething = (text: string): boolean => visibleControls(text, "\n\t") !== text;

/** Hosts whose names have letters beyond ASCII, with the names that are looked up. */
const foreignHosts = (text: string): readonly (readonly [shown: string, real: string])[] =>
  [...text.matchAll(HOSTS)]
    .map(([, host = ""]) => [host, plainHost(host)] as const)
    .filter(([shown, real]) => shown !== real);
