import type { PermissionQuestion, Reviser } from "../../schema/ask.ts";
import type { Strings } from "../../text/strings.ts";
import { chooseHunks, type HunkChoice, hunkKey } from "../question/hunk-choice.ts";
import { type Changed, type EditDraft, editCall, keepOnly, revisedQuestion } from "../question/revise-question.ts";
import type { KeyInput } from "../terminal/keys.ts";
import type { DiffData } from "../transcript/changed-lines.ts";
import type { OpenQuestion } from "./view-state.ts";

type Settle = OpenQuestion["settle"];

export type CallChangesOptions = {
  readonly strings: Strings["question"];
  /** The question that stands before the person. */
  readonly standing: () => OpenQuestion | null;
  /** Changes what is shown of that one. */
  readonly change: (part: Partial<OpenQuestion>) => void;
  /** Shows the question in the place of that one, as it came or changed; keys answer it once it has been seen. */
  readonly showAgain: (question: PermissionQuestion, part: Partial<OpenQuestion>) => void;
  /** Lets the person's editor have the terminal. */
  readonly edit: EditDraft;
  /** The rows of each hunk of what is asked about. */
  readonly hunks: (diff: DiffData) => HunkChoice["hunks"];
  /** How many rows the hunks have on the screen. */
  readonly hunkRoom: () => number;
};

/** A call that a person changes while it is asked about. Nothing is answered by that. */
export interface CallChanges {
  /** Whether it is being changed: no key answers it meanwhile. */
  isChanging(settle: Settle): boolean;
  edit(open: OpenQuestion): void;
  chooseHunks(open: OpenQuestion): void;
  /** A key while hunks are chosen; false where it is for the chat. */
  hunksKey(key: KeyInput, open: OpenQuestion): boolean;
  /** Takes the changes back. */
  restore(open: OpenQuestion): void;
  /** The hunks' rows have another width. */
  resized(open: OpenQuestion): void;
}

export const createCallChanges = (options: CallChangesOptions): CallChanges => {
  const { strings, change, standing, showAgain } = options;
  let changing: Settle | null = null;

  const revise = (
    { question, original = question, reviser, settle }: OpenQuestion,
    make: (reviser: Reviser, question: PermissionQuestion) => Promise<Changed>,
  ): void => {
    if (question.kind !== "permission" || !reviser) return;
    changing = settle;
    change({ isArmed: false });
    void revisedQuestion(make(reviser, question), question, strings).then((after) => {
      if (changing === settle) changing = null;
      const open = standing();
      // It was dismissed meanwhile.
      if (open?.settle !== settle) return;
      if (!("question" in after)) return settle(after);
      // What the call as it came would do has changed by itself.
      const isOriginal = after.question.arguments === question.arguments && question === original;
      showAgain(after.question, {
        ...(isOriginal && { original: after.question }),
        note: { text: after.note, isProblem: after.isProblem },
      });
    });
  };

  const hunksOf = ({ question }: OpenQuestion): HunkChoice["hunks"] =>
    question.kind === "permission" && question.preview?.type === "diff" ? options.hunks(question.preview) : [];

  return {
    isChanging: (settle) => changing === settle,
    edit: (open) => revise(open, (reviser, question) => editCall(reviser, question, options.edit)),
    chooseHunks: (open) => change({ stage: "hunks", hunks: chooseHunks(hunksOf(open)) }),
    restore: (open) => {
      if (open.original?.kind === "permission") showAgain(open.original, { note: undefined });
    },
    resized: (open) => {
      if (open.hunks) change({ hunks: { ...open.hunks, hunks: hunksOf(open), scroll: 0 } });
    },
    hunksKey: (key, open) => {
      const { hunks } = open;
      // What is pasted is for the input.
      if (!hunks || key.type === "paste") return false;
      if (key.type === "key" && key.chord === "escape") change({ stage: "choose", hunks: undefined });
      else if (key.type === "key" && key.chord === "enter")
        revise(open, (reviser, question) => keepOnly(reviser, question, hunks.kept));
      else {
        const next = hunkKey(hunks, key, options.hunkRoom());
        if (next) change({ hunks: next });
        return next !== undefined || !isForChat(key);
      }
      return true;
    },
  };
};

/** Ctrl+C, Ctrl+Z and their like. */
export const isForChat = (key: KeyInput): boolean => key.type === "key" && /^(ctrl|alt|shift)\+/.test(key.chord);
