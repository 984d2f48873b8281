import { StringDecoder } from "node:string_decoder";
import { cleanOutput, createCleaner } from "../../text/clean.ts";
import { tailBytes } from "../../text/utf8.ts";
import { createOutputBuffer, type KeptOutput } from "./output-buffer.ts";
import { createOutputsFile, type OutputsFileOptions, type OutputsFileState } from "./outputs-file.ts";

/** A command's output on its way from bytes to what the model sees: decoded, cleaned, counted, kept, saved. */
export interface CommandOutput {
  write(bytes: Buffer): void;
  /** The newest cleaned text, at most `maxBytes`, the unfinished line included. */
  newest(maxBytes: number): string;
  /** What the result shows. From here on `goesOn` says whether more may come; that goes to the file only. */
  result(goesOn: boolean): { readonly kept: KeptOutput; readonly totalBytes: number; readonly file: OutputsFileState };
  /** The last writer is gone. */
  end(): void;
}

export type CommandOutputOptions = { readonly maxBytes: number; readonly file: OutputsFileOptions };

export const createCommandOutput = (options: CommandOutputOptions): CommandOutput => {
  // A character may be cut between two reads.
  const decoder = new StringDecoder("utf8");
  const cleaner = createCleaner();
  const buffer = createOutputBuffer(options.maxBytes);
  const file = createOutputsFile(options.file);

  const settle = (text: string): void => {
    if (text === "") return;
    // Until the file exists the buffer holds everything.
    const before = file.state().type === "unused" ? buffer.newest() : "";
    buffer.append(text);
    if (file.state().type !== "unused" || buffer.totalBytes > options.maxBytes) file.append(before + text);
  };

  return {
    write: (bytes) => settle(cleaner.push(decoder.write(bytes))),
    newest: (maxBytes) => tailBytes(cleanOutput(buffer.newest() + cleaner.unfinished()), maxBytes),
    result: (goesOn) => {
      if (!goesOn) settle(cleaner.push(decoder.end()));
      settle(cleaner.flush());
      const kept = buffer.kept();
      // The file must exist from the moment that a result names it.
      if (goesOn && file.state().type === "unused" && kept.type === "whole") file.append(kept.text);
      return { kept, totalBytes: buffer.totalBytes, file: file.state() };
    },
    end: () => {
      settle(cleaner.push(decoder.end()));
      settle(cleaner.flush());
      file.close();
    },
  };
};
