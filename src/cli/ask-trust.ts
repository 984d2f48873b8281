import { saveDecision } from "../config/trust.ts";
import type { Ask } from "../schema/ask.ts";
import { errorMessage } from "../text/error-message.ts";
import type { Setup } from "./setup.ts";
import { trustLines } from "./trust-lines.ts";

export type AskTrustOptions = {
  readonly ask: Ask;
  /** Hears of an answer that could not be kept. */
  readonly tell: (text: string) => void;
  readonly signal: AbortSignal;
};

/**
 * Asks whether the folder is trusted, if it holds something that waits for that and nobody has said yes or no to it.
 * Returns the setup to go on with; null = the person wants to leave. A dismissed question is a no for this once.
 * @throws ConfigError for a value that counts only in a trusted folder and cannot be used.
 */
export const askTrust = async (setup: Setup, { ask, tell, signal }: AskTrustOptions): Promise<Setup | null> => {
  const { trust, workDir, paths, strings } = setup;
  if (trust.decision !== "open" || trust.items.length === 0) return setup;
  const answer = await ask(
    {
      kind: "choice",
      title: strings.chat.trustQuestion(workDir),
      text: [strings.chat.trustMeans, ...trustLines(trust.items, workDir)].join("\n"),
      // Enter alone must not trust.
      options: [
        { id: "distrust", label: strings.chat.trustNo },
        { id: "trust", label: strings.chat.trustYes },
        { id: "leave", label: strings.chat.trustLeave },
      ],
    },
    signal,
  );
  const choice = "choice" in answer ? answer.choice : "dismissed";
  if (choice === "leave") return null;
  const next = choice === "trust" ? await trust.granted() : setup;
  if (choice === "dismissed") return next;
  try {
    await saveDecision(
      { path: paths.trust, workDir, strings: strings.config },
      { trusted: next.trusted, digest: trust.digest, time: new Date() },
    );
  } catch (error) {
    tell(strings.chat.trustNotSaved(errorMessage(error)));
  }
  return next;
};
