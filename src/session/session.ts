import type { Engine } from "../engine/engine.ts";
import type { Admission, CheckContext, Input, StopCheck } from "../engine/options.ts";
import type { Emit, EngineEvent, EngineEventBody, PermissionMode } from "../schema/event.ts";
import type { Message } from "../schema/message.ts";
import { knowsOfPlan, planReminder } from "./plan-reminder.ts";
import type { Past } from "./resume.ts";

export type { Input, StopCheck };

/** Who has a say in a session's life. */
export type Lifecycle = {
  /** Before the session's first input, which waits for it; its inputs enter first. Once, unless it blocks. */
  readonly started?: ((context: CheckContext) => Promise<Admission>) | undefined;
  /** Before each input of a person enters the history. Returns it with what comes along. */
  readonly prompted?: ((input: Input, context: CheckContext) => Promise<Admission>) | undefined;
  /** Makes the check of an answer that would end a run; anew for each run. */
  readonly stopping?: (() => StopCheck | undefined) | undefined;
};

/** Records an event. Called at the moment it happens, before the step that depends on it; must not throw. */
export type Sink = (event: EngineEvent) => void;

/** Runs a command of the person's own and tells of it as of a tool call. Returns what the model is to know of it. */
export type Shell = (command: string, signal: AbortSignal, emit: Emit) => Promise<string>;

export type SessionOptions = {
  readonly id: string;
  readonly systemPrompt: string;
  /** Where the session goes on: its history, whose system prompt gives way, and the last number that an event has had. */
  readonly past?: Pick<Past, "messages" | "seq" | "closing"> | undefined;
  readonly engine: Engine;
  readonly sinks: readonly Sink[];
  readonly clock: () => Date;
  readonly lifecycle?: Lifecycle;
  /** The mode now: the model is told with the next input when plan mode begins and ends. Absent where it never does. */
  readonly permissionMode?: () => PermissionMode;
  /** Absent where no person types commands. */
  readonly shell?: Shell | undefined;
};

/** One conversation: its history, the numbering of its events, and what the person has queued. */
export class Session {
  readonly id: string;
  readonly #options: SessionOptions;
  readonly #history: Message[];
  #engine: Engine;
  #queue: Input[] = [];
  /** What was taken from the queue and is not in the history yet: it waits for those who have a say. */
  #entering: Input | undefined;
  /** What the history is to get as soon as nothing waits for an observation. */
  #notes: string[] = [];
  /** What the session's start gave for the model; undefined until it has started. */
  #opening: readonly Input[] | undefined;
  #isRunning = false;
  #seq = 0;

  constructor(options: SessionOptions) {
    this.id = options.id;
    this.#options = options;
    this.#engine = options.engine;
    const { messages = [], seq = 0, closing = [] } = options.past ?? {};
    this.#history = [
      { role: "system", content: options.systemPrompt },
      ...messages.filter(({ role }) => role !== "system"),
    ];
    this.#seq = seq;
    // At once: what the model is told of an interrupted call must be written down before it is.
    for (const body of closing) this.#publish(body);
  }

  /** The conversation so far, system prompt first. */
  get messages(): readonly Message[] {
    return this.#history;
  }

  /** Whether the model knows that it is to plan only, and that still holds. */
  get isPlanning(): boolean {
    return this.#options.permissionMode?.() === "plan" && knowsOfPlan(this.#history);
  }

  /** From the next run on. */
  use(engine: Engine): void {
    this.#engine = engine;
  }

  /** Runs one input. The events end with exactly one `run.completed`. One run at a time. */
  run(input: Input, signal: AbortSignal): AsyncIterable<EngineEvent> {
    const { permissionMode, lifecycle: { started, prompted, stopping } = {} } = this.#options;
    const takeQueued = (): Input | undefined => {
      this.#joinNotes();
      return this.takeQueued();
    };
    this.#isRunning = true;
    const run = {
      history: this.#history,
      input,
      takeQueued,
      ...((started || prompted || permissionMode) && {
        admit: (one: Input, context: CheckContext) => this.#admit(one, context),
      }),
      stopping: stopping?.(),
    };
    return this.#engine.runStream(run, signal, (body) => this.#publish(body));
  }

  /** Joins the running run after the current tools, or the next one. */
  queue(input: Input): void {
    this.#queue.push(input);
  }

  /** What waits, the oldest first. */
  queued(): readonly Input[] {
    return [...(this.#entering ? [this.#entering] : []), ...this.#queue];
  }

  /** Takes the newest of what waits out of the queue again. */
  takeBack(): Input | undefined {
    return this.#queue.pop();
  }

  /**
   * Empties the queue into one input, for the run that follows one that has completed. What is about to enter the
   * history is among it, and then does not enter.
   */
  takeQueued(): Input | undefined {
    const taken = this.queued();
    this.#entering = undefined;
    this.#queue = [];
    if (taken.length === 0) return undefined;
    const attachments = taken.flatMap((input) => input.attachments ?? []);
    return {
      content: taken.map(({ content }) => content).join("\n\n"),
      source: "queue",
      ...(attachments.length > 0 && { attachments }),
    };
  }

  /** Adds a user message without a run; during one it waits until no tool call is without its observation. */
  addNote(content: string): void {
    this.#notes.push(content);
    if (!this.#isRunning) this.#joinNotes();
  }

  /** Runs a command of the person's own, also beside a run. Its events go to the sinks and to `onEvent`; a note tells the model. */
  async runShell(command: string, signal: AbortSignal, onEvent: (event: EngineEvent) => void): Promise<void> {
    const { shell } = this.#options;
    if (!shell) throw new Error("this session has no shell");
    this.addNote(await shell(command, signal, (body) => onEvent(this.#publish(body))));
  }

  async #admit(input: Input, context: CheckContext): Promise<Admission> {
    const isQueued = input.source === "queue";
    if (isQueued) this.#entering = input;
    const admission = await this.#check(input, context);
    // The person has got it back meanwhile.
    if (isQueued && this.#entering !== input) return { type: "blocked", reason: "" };
    if (isQueued) this.#entering = undefined;
    if (admission.type === "blocked") {
      // Nobody refused it: the run was cancelled meanwhile, and it goes on waiting.
      if (context.signal.aborted && isQueued) this.#queue.unshift(input);
      return admission;
    }
    const opening = this.#opening ?? [];
    this.#opening = [];
    const reminder = planReminder(this.#history, this.#options.permissionMode?.() ?? "ask");
    const reminders = reminder === undefined ? [] : [{ content: reminder, source: "reminder" as const }];
    return { type: "admitted", inputs: [...opening, ...admission.inputs, ...reminders] };
  }

  /** What those say who have a say in it. */
  async #check(input: Input, context: CheckContext): Promise<Admission> {
    const { started, prompted } = this.#options.lifecycle ?? {};
    if (this.#opening === undefined) {
      const opening = await started?.(context);
      if (opening?.type === "blocked") return opening;
      this.#opening = opening?.inputs ?? [];
    }
    return (await prompted?.(input, context)) ?? { type: "admitted", inputs: [input] };
  }

  #joinNotes(): void {
    const notes = this.#notes;
    this.#notes = [];
    for (const content of notes) {
      this.#history.push({ role: "user", content });
      this.#publish({ type: "input.added", content, source: "person" });
    }
  }

  #publish(body: EngineEventBody): EngineEvent {
    this.#seq += 1;
    const event: EngineEvent = {
      ...body,
      sessionId: this.id,
      seq: this.#seq,
      time: this.#options.clock().toISOString(),
    };
    for (const sink of this.#options.sinks) sink(event);
    if (body.type === "run.completed") {
      this.#isRunning = false;
      this.#joinNotes();
    }
    return event;
  }
}
