import type { ListedFile, ListedFiles } from "../../session/memory.ts";
import { visibleControls } from "../../text/clean.ts";
import type { Strings } from "../../text/strings.ts";
import { type CommandContext, tell } from "./command-context.ts";

/** `/memory`: the instruction files that count and the files of the memory; the one that is chosen opens in the editor. */
export const runMemory = async (_: string, context: CommandContext): Promise<void> => {
  const { chat, strings } = context;
  const listed = await chat.memory.list();
  tell(context, listLines(listed, strings.memory).join("\n"));
  const file = await pick(listed.files, context);
  if (!file) return;
  const before = await chat.memory.read(file);
  const edited = await context.edit({ text: before, name: file.path.split(/[/\\]/).at(-1) ?? "memory.md" });
  if (typeof edited !== "string") return tell(context, strings.ui.editorProblem(edited.problem), "warning");
  if (edited === before) return tell(context, strings.memory.notChanged);
  await chat.memory.save(file, before, edited);
  const said = file.kind === "instructions" ? strings.memory.savedInstructions : strings.memory.saved;
  tell(context, said(file.shown));
};

const listLines = ({ files, instructionLimit, isOn }: ListedFiles, strings: Strings["memory"]): readonly string[] => {
  const there = files.filter(({ bytes }) => bytes !== null);
  const rowsOf = (kind: ListedFile["kind"]): readonly string[] =>
    there.filter((file) => file.kind === kind).map((file) => `    ${file.shown}  ${sizeOf(file, strings)}`);
  const instructions = rowsOf("instructions");
  const memory = rowsOf("memory");
  const used = there.reduce((sum, { shownBytes = 0 }) => sum + shownBytes, 0);
  return [
    ...(there.length === 0 ? [strings.noFiles] : []),
    ...(instructions.length === 0 ? [] : [strings.instructionsTitle(used, instructionLimit), ...instructions]),
    ...(memory.length === 0 ? [] : [strings.filesTitle, ...memory]),
    ...(isOn ? [] : [strings.isOff]),
  ];
};

const pick = async (files: readonly ListedFile[], context: CommandContext): Promise<ListedFile | undefined> => {
  const { choose, strings, signal } = context;
  const options = files.map((file, index) => ({
    id: String(index),
    label: visibleControls(`${file.shown}  ${sizeOf(file, strings.memory)}`),
  }));
  const answer = await choose({ kind: "choice", title: strings.memory.choose, options }, signal);
  return "choice" in answer ? files[Number(answer.choice)] : undefined;
};

const sizeOf = ({ bytes, shownBytes }: ListedFile, strings: Strings["memory"]): string => {
  if (bytes === null) return strings.missing;
  return shownBytes !== undefined && shownBytes < bytes ? strings.counts(shownBytes, bytes) : strings.bytes(bytes);
};
