import type { Answer, Ask, Question, Reviser } from "../../schema/ask.ts";

export type Settle = (answer: Answer) => void;

export type Asked = {
  readonly question: Question;
  readonly settle: Settle;
  /** The person has called it up. */
  readonly isCalled: boolean;
  /** Absent where there is nothing to change. */
  readonly reviser: Reviser | undefined;
};

export type QuestionQueueOptions = {
  /** Whether a question stands before the person. */
  readonly isTaken: () => boolean;
  readonly open: (asked: Asked) => void;
  /** A question is settled. Takes it away, and says whether it was the one that stood there. */
  readonly close: (settle: Settle) => boolean;
  /** Called when one has come or gone; `hasClosed`: the one that stood there is gone. */
  readonly onChange: (change: { readonly waiting: number; readonly hasClosed: boolean }) => void;
};

/**
 * One question at a time: the others wait their turn, and an aborted one is dismissed wherever it stands.
 * `isCalled`: the person has called it up.
 */
export const createQuestionQueue = (options: QuestionQueueOptions): ((isCalled: boolean) => Ask) => {
  const waiting: (() => void)[] = [];

  const next = (hasClosed: boolean): void => {
    if (!options.isTaken()) waiting.shift()?.();
    options.onChange({ waiting: waiting.length, hasClosed });
  };

  return (isCalled) => (question, signal, reviser) =>
    new Promise((resolve) => {
      let isSettled = false;
      const settle: Settle = (answer) => {
        if (isSettled) return;
        isSettled = true;
        signal.removeEventListener("abort", dismiss);
        const index = waiting.indexOf(show);
        if (index >= 0) waiting.splice(index, 1);
        const hasClosed = options.close(settle);
        resolve(answer);
        next(hasClosed);
      };
      const dismiss = (): void => settle({ dismissed: true });
      const show = (): void => options.open({ question, settle, isCalled, reviser });
      if (signal.aborted) return dismiss();
      signal.addEventListener("abort", dismiss, { once: true });
      waiting.push(show);
      next(false);
    });
};
