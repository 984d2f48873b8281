import type { ChangedFile, PastTurn, WayBack } from "../../session/rewind.ts";
import { visibleControls } from "../../text/clean.ts";
import type { Strings } from "../../text/strings.ts";

const MAX_CHARACTERS = 100;
const MAX_FILES = 10;

/** How a text begins, on one row. */
export const firstWords = (text: string): string => {
  const row = text
    .slice(0, MAX_CHARACTERS * 4)
    .trim()
    .replace(/\s+/g, " ");
  const characters = [...row];
  return characters.length > MAX_CHARACTERS ? `${characters.slice(0, MAX_CHARACTERS).join("")}…` : row;
};

/** What the person had sent, as they would know it again. */
export const shownTurn = ({ type, text }: Pick<PastTurn, "type" | "text">): string =>
  `${type === "shell" ? "!" : ""}${firstWords(text)}`;

/** `3 files +20 −4`; nothing where nothing has changed. */
export const changeFigures = (changes: readonly ChangedFile[], strings: Strings["rewind"]): string =>
  changes.length === 0
    ? ""
    : [strings.files(changes.length), lineFigures(changes)].filter((text) => text !== "").join(" ");

/** `+20 −4`; nothing where no lines were compared. */
export const lineFigures = (changes: readonly ChangedFile[]): string => {
  const counted = changes.flatMap(({ lines }) => lines ?? []);
  if (counted.length === 0) return "";
  const sum = (of: "added" | "removed"): number => counted.reduce((total, lines) => total + lines[of], 0);
  return `+${sum("added")} −${sum("removed")}`;
};

/** What going back would do to the files, and what it would leave. */
export const previewText = (
  { files, problem }: Pick<WayBack, "files" | "problem">,
  strings: Strings["rewind"],
): string => {
  if (files === null) return problem ?? strings.filesUnknown;
  const { changes, conflicts } = files;
  const rows = [
    ...(changes.length === 0 ? [strings.noFiles] : [strings.wouldChange(changes.length)]),
    ...fileRows(changes, (change) => `${wordOf(change, strings)} ${lineFigures([change])}`.trimEnd(), strings),
    ...(conflicts.length === 0 ? [] : [strings.conflicts(conflicts.length)]),
    ...fileRows(conflicts, () => "", strings),
  ];
  return rows.join("\n");
};

const fileRows = (
  files: readonly ChangedFile[],
  about: (file: ChangedFile) => string,
  strings: Strings["rewind"],
): readonly string[] => {
  const shown = files.length > MAX_FILES + 1 ? files.slice(0, MAX_FILES) : files;
  return [
    ...shown.map((file) => `  ${visibleControls(file.path)}  ${about(file)}`.trimEnd()),
    ...(shown.length < files.length ? [`  ${strings.more(files.length - shown.length)}`] : []),
  ];
};

const wordOf = ({ kind }: ChangedFile, strings: Strings["rewind"]): string => {
  switch (kind) {
    case "added":
      return strings.comesBack;
    case "removed":
      return strings.isRemoved;
    case "changed":
      return strings.isChanged;
    default:
      return kind satisfies never;
  }
};
