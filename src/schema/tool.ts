/** What the model asks for. `arguments` is its raw JSON text, parsed late and once, in the registry. */
export type ToolCall = { readonly id: string; readonly name: string; readonly arguments: string };

/**
 * What came of a call. `output` is text for the model; `data` is what a UI renders and never reaches the model.
 * `isError` means that the tool could not do its job, was refused or cancelled, or hit the engine's time limit.
 */
export type ToolResult = {
  readonly toolCallId: string;
  readonly name: string;
  readonly output: string;
  readonly isError: boolean;
  readonly data?: ToolData;
};

/** What the model is told about a tool. `inputSchema` is plain JSON Schema; `display` is a template for people, as in `bash {command}`. */
export type ToolDefinition = {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  readonly display?: string;
};

/** A JSON Schema object (draft 2020-12), written as it goes over the wire. */
export type JsonSchema = { readonly [key: string]: unknown };

/** What a UI may draw of a result. */
export type ToolData =
  | {
      readonly type: "diff";
      readonly path: string;
      readonly hunks: readonly DiffHunk[];
      readonly added: number;
      readonly removed: number;
    }
  | {
      readonly type: "file";
      readonly path: string;
      readonly bytes: number;
      readonly lines?: number;
      readonly truncated?: boolean;
    }
  | {
      readonly type: "command";
      readonly command: string;
      readonly exitCode: number | null;
      readonly signal?: string;
      readonly timedOut?: boolean;
      readonly outputBytes: number;
      readonly outputPath?: string;
    }
  | { readonly type: "json"; readonly value: unknown };

/** One hunk of a unified diff. Line numbers are 1-based; each line begins with " ", "+" or "-". */
export type DiffHunk = {
  readonly oldStart: number;
  readonly oldLines: number;
  readonly newStart: number;
  readonly newLines: number;
  readonly lines: readonly string[];
};
