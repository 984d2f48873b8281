import type { ChatRewind, DiffScope, PastTurn, Restored, Restores, WayBack } from "../session/rewind.ts";
import type { Session } from "../session/session.ts";
import type { Turn } from "../session/turns.ts";
import type { RestorePlan } from "../snapshots/snapshots.ts";
import { UserError } from "../text/user-error.ts";
import { type FileHistory, wholeSteps } from "./file-history.ts";

export type RewindOptions = {
  readonly session: () => Session;
  /** Null where the states of the files are not kept. */
  readonly files: () => FileHistory | null;
  readonly now: () => number;
};

/** Going back in a session, as the chat does it. */
export const createChatRewind = ({ session, files, now }: RewindOptions): Omit<ChatRewind, "fork"> => {
  const pastTurns = async (): Promise<readonly PastTurn[]> => {
    await files()?.settled();
    return Promise.all(session().turns.list().map(pastTurn));
  };

  const pastTurn = async (turn: Turn, index: number): Promise<PastTurn> => {
    const { type, seq, text, time } = turn;
    const changes = await changesOf(seq);
    return { type, seq, text, number: index + 1, ageMs: Math.max(0, now() - Date.parse(time)), changes };
  };

  const changesOf = async (seq: number): Promise<PastTurn["changes"]> => {
    const step = session().turns.stepOf(seq);
    const [whole] = wholeSteps(step ? [step] : []);
    const history = files();
    return whole && history ? ((await known(history.changes(whole))).value ?? null) : null;
  };

  const wayBack = async (turn: PastTurn): Promise<WayBack> => {
    const history = files();
    await history?.settled();
    const steps = wholeSteps(session().turns.steps(turn.seq));
    const { value: plan = null, problem } =
      history && steps.length > 0 ? await known(history.snapshots.plan(steps)) : {};
    return {
      turn,
      files: plan && { changes: plan.changes, conflicts: plan.conflicts },
      ...(problem !== undefined && { problem }),
      go: async (restores) => {
        const note = (): void => void session().rewind(turn.seq, restores);
        const takeBack = (): void => session().redo();
        if (restores !== "conversation" && history && plan) return restore(history, { plan, restores, note, takeBack });
        note();
        return { restores, files: 0, kept: [] };
      },
    };
  };

  const redo = async (): Promise<Restored> => {
    const history = files();
    await history?.settled();
    const { rewind, steps = [] } = session().turns.undoable() ?? {};
    const note = (): void => session().redo();
    const restores = rewind?.restores ?? "both";
    const whole = wholeSteps(steps);
    if (history && whole.length > 0)
      return restore(history, { plan: await history.snapshots.plan(whole), restores, note });
    note();
    return { restores, files: 0, kept: [] };
  };

  const diff: ChatRewind["diff"] = async (scope) => {
    const history = files();
    await history?.settled();
    const turn = scope.type === "session" ? undefined : turnOf(scope);
    if (scope.type !== "session" && !turn) return null;
    const { turns } = session();
    const step = turn && turns.stepOf(turn.seq);
    const steps = wholeSteps(turn ? (step ? [step] : []) : turns.steps());
    return {
      turn: turn ? await pastTurn(turn, turns.list().indexOf(turn)) : null,
      files: history && (steps.length > 0 ? await history.snapshots.diff(steps) : []),
    };
  };

  const turnOf = (scope: Exclude<DiffScope, { type: "session" }>): Turn | undefined => {
    const { turns } = session();
    const list = turns.list();
    if (scope.type === "turn") return list[scope.number - 1];
    const hasChanges = ({ seq }: Turn): boolean =>
      wholeSteps([turns.stepOf(seq)].flatMap((step) => step ?? [])).some(({ before, after }) => before !== after);
    return list.findLast(hasChanges) ?? list.at(-1);
  };

  return {
    turns: async () => (await pastTurns()).toReversed(),
    wayBack,
    redoable: () => {
      const last = session().turns.undoable();
      return last ? { text: last.rewind.text, restores: last.rewind.restores } : null;
    },
    redo,
    diff,
  };
};

/** What the store knows, or why it does not: a snapshot may have been removed. */
const known = async <T>(asked: Promise<T>): Promise<{ readonly value?: T; readonly problem?: string }> => {
  try {
    return { value: await asked };
  } catch (error) {
    if (error instanceof UserError) return { problem: error.message };
    throw error;
  }
};

type Restoring = {
  readonly plan: RestorePlan;
  readonly restores: Restores;
  /** Writes down that it is done. Before the first file is touched: a program that is killed then has done it. */
  readonly note: () => void;
  /** The files could not be restored: the conversation is to be as it was, so that one can try again. */
  readonly takeBack?: () => void;
};

const restore = async (history: FileHistory, restoring: Restoring): Promise<Restored> => {
  const { plan, restores, note, takeBack } = restoring;
  let isNoted = false;
  try {
    const { restored, kept } = await history.restore(plan, () => {
      note();
      isNoted = true;
    });
    return { restores, files: restored.length, kept };
  } catch (error) {
    if (isNoted) takeBack?.();
    throw error;
  }
};
