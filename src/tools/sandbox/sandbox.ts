/** What a confined command may do. Every path is absolute and real: no link leads to it. */
export type SandboxPolicy = {
  readonly workDir: string;
  /** Files and folders that may be written; what is not named here, or in the rest, can be read only. */
  readonly writable: readonly string[];
  /** Below writable ones, and not to be changed; where they do not exist, not to be made. */
  readonly readOnly: readonly string[];
  /** Neither to be read nor written; they seem empty. */
  readonly hidden: readonly string[];
  /** Below hidden ones, and to be read. */
  readonly visible: readonly string[];
  readonly network: "on" | "off";
};

export type SandboxName = "bubblewrap" | "seatbelt";

/** A program with arguments that starts another one confined. */
export type Confined = {
  readonly file: string;
  readonly args: readonly string[];
  /** Nothing of the command lives any more. */
  readonly release: () => void;
};

/** The operating system's own confinement. */
export interface Sandbox {
  readonly name: SandboxName;
  /** The absolute path of the program that confines. */
  readonly program: string;
  /**
   * Whether its program stays for as long as anything of the command lives, with the command's output open, and tells of
   * a signal that ended the command by 128 and its number. Otherwise it becomes the command.
   */
  readonly staysBetween: boolean;
  /** What counts for the next command: a repository may have come into being. */
  policy(): SandboxPolicy;
  /** `statusFd`: where a program that stays between notes as JSON that the command has run, by its `exit-code`. */
  wrap(file: string, args: readonly string[], statusFd?: number): Confined;
  /** Notes that it could not be put around a command. */
  failed(): void;
  /** Takes away what had to be made for commands that have not been released. */
  close(): void;
}

/** The sandbox could not be put around a command, which has not run. The message is what its program says. */
export class SandboxFailure extends Error {}
