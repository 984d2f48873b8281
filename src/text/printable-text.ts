import { stripControls } from "./clean.ts";
import { maskKeyShapes } from "./mask.ts";

/** Text as people may read it and a terminal may be shown it. A key may only show when the controls inside it are gone. */
export const printableText = (text: string): string => maskKeyShapes(stripControls(text));
