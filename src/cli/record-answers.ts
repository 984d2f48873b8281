import type { ModelChoice, ProviderChoice } from "../providers/choose-provider.ts";
import { lookupModel } from "../providers/models.ts";
import type { LLMProvider } from "../providers/provider.ts";
import { createRecorded } from "../providers/recorded.ts";
import { createRequestFold } from "../providers/recorded-requests.ts";
import type { Server } from "../providers/servers.ts";
import type { EngineEvent } from "../schema/event.ts";
import { EXIT } from "../text/exit.ts";
import { UserError } from "../text/user-error.ts";
import { openReplay } from "./replay-source.ts";
import type { Setup } from "./setup.ts";

/** A model that answers from a recording, in place of the one that would be chosen. */
export type Answers = {
  readonly choice: ProviderChoice;
  readonly provider: LLMProvider;
  readonly warnings: readonly string[];
};

/** The answers that `file` has, a recording or a journal. `tell` hears where a run departs. @throws UserError */
export const readAnswers = async (setup: Setup, file: string, tell: (text: string) => void): Promise<Answers> => {
  const { strings } = setup;
  const source = await openReplay(setup, file);
  const fold = createRequestFold();
  let started: EngineEvent<"run.started"> | undefined;
  for await (const event of source.events) {
    fold.add(event);
    if (event.type === "run.started") started ??= event;
  }
  const requests = fold.requests();
  const problem = source.problem();
  if (!started || requests.length === 0)
    throw new UserError(`${source.path}: ${strings.replay.answersNone}`, { exitCode: EXIT.input });
  const { provider: name, model, workDir } = started;
  // What commands print often has the folder's path in it, which says nothing of the run.
  const here = requests.map(({ news, ...request }) => ({
    ...request,
    news: news?.map((text) => text.replaceAll(workDir, setup.workDir)),
  }));
  const onDeparture = (request: number): void => tell(strings.replay.departed(request));
  return {
    choice: name === "offline" ? { kind: "offline", notes: [] } : choiceOf(setup, name, model),
    provider: createRecorded({ name, model, requests: here, onDeparture, strings: strings.replay }),
    warnings: problem === undefined ? [] : [problem],
  };
};

/** Nothing is sent to it: only its name, and what is known of its model, are used. */
const choiceOf = ({ servers, config }: Setup, name: string, model: string): ModelChoice => {
  const server = servers.find((one) => one.name === name) ?? { ...UNKNOWN_SERVER, name };
  const info = lookupModel(name, model, config.settings.models);
  return { kind: "model", server, model, apiKey: "", baseUrl: "", isOwnAddress: false, info, notes: [] };
};

const UNKNOWN_SERVER: Omit<Server, "name"> = {
  dialect: "openai",
  baseUrl: "",
  keyVariable: null,
  baseUrlVariable: null,
  modelVariable: null,
  defaultModel: null,
  isLocal: false,
  vision: false,
};
