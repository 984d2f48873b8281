import { constants } from "node:os";
import type { Strings } from "../../text/strings.ts";
import type { ToolOutput } from "../tool.ts";
import type { CommandOutput } from "./command-output.ts";
import type { KeptOutput } from "./output-buffer.ts";
import type { OutputsFileState } from "./outputs-file.ts";
import type { CommandEnd } from "./run-command.ts";

export type CommandReport = {
  readonly command: string;
  readonly limitMs: number;
  readonly end: CommandEnd;
  readonly output: ReturnType<CommandOutput["result"]>;
};

/** What the model and the UI are told of a command that ran. */
export const commandResult = (report: CommandReport, strings: Strings["bash"]): ToolOutput => {
  const { end, output } = report;
  return {
    output:
      outcomeText(report, shownOutput(output.kept, output.file, strings), strings) + backgroundText(report, strings),
    isError: end.stoppedBy === "cancel",
    data: {
      type: "command",
      command: report.command,
      exitCode: end.exitCode,
      outputBytes: output.totalBytes,
      ...(end.signal !== null && { signal: end.signal }),
      ...(end.stoppedBy === "timeout" && { timedOut: true }),
      ...(output.file.type === "saved" && { outputPath: output.file.path }),
    },
  };
};

const outcomeText = ({ end, limitMs }: CommandReport, shown: string, strings: Strings["bash"]): string => {
  if (end.stoppedBy === "cancel") return strings.cancelled(shown);
  if (end.stoppedBy === "timeout") {
    const notice = strings.timedOut(limitMs / 1000);
    return shown === "" ? notice.trimStart() : shown + notice;
  }
  if (end.exitCode !== 0) return strings.failed(exitStatus(end), shown);
  return shown === "" ? strings.silent : shown;
};

/** As a shell counts it: a process that a signal ended has 128 and the signal's number. */
const exitStatus = ({ exitCode, signal }: CommandEnd): string =>
  signal === null ? `exit status ${exitCode}` : `exit status ${128 + constants.signals[signal]} (${signal})`;

const shownOutput = (kept: KeptOutput, file: OutputsFileState, strings: Strings["bash"]): string =>
  kept.type === "whole" ? kept.text : `${kept.head}\n\n${cutNotice(kept.cutBytes, file, strings)}\n\n${kept.tail}`;

const cutNotice = (bytes: number, file: OutputsFileState, strings: Strings["bash"]): string => {
  if (file.type !== "saved") return strings.cutUnsaved(bytes, file.type === "failed" ? file.reason : "");
  return file.capped ? strings.cutCapped(bytes, file.path) : strings.cut(bytes, file.path);
};

const backgroundText = ({ end, output }: CommandReport, strings: Strings["bash"]): string => {
  if (end.background === "none") return "";
  return end.background === "printing" && output.file.type === "saved"
    ? strings.backgroundPrinting(output.file.path)
    : strings.background;
};
