/** A file that a person may open in the chat. Its path is others' text. */
export type ListedFile = {
  readonly kind: "instructions" | "memory";
  readonly path: string;
  /** As people write it. */
  readonly shown: string;
  /** Null where it is not there yet. */
  readonly bytes: number | null;
  /** Of an instruction file: how much of it counts. */
  readonly shownBytes?: number;
};

export type ListedFiles = {
  readonly files: readonly ListedFile[];
  /** What the instruction files may take together, in bytes. */
  readonly instructionLimit: number;
  /** Whether the model may search and write the memory. */
  readonly isOn: boolean;
};

/** What the chat may see and change of instruction files and memory. */
export type ChatMemory = {
  /** As the files are now. */
  readonly list: () => Promise<ListedFiles>;
  /** The text of one of them; empty where it is not there yet. @throws UserError */
  readonly read: (file: ListedFile) => Promise<string>;
  /** Replaces it whole, unless it is no longer as `before`. @throws UserError */
  readonly save: (file: ListedFile, before: string, text: string) => Promise<void>;
};
