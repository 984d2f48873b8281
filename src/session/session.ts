import type { Engine } from "../engine/engine.ts";
import type { Admission, CheckContext, Input, StopCheck } from "../engine/options.ts";
import type { Emit, EngineEvent, EngineEventBody, PermissionMode } from "../schema/event.ts";
import type { Message } from "../schema/message.ts";
import type { Strings } from "../text/strings.ts";
import { ContextKeeper } from "./context-keeper.ts";
import type {
  CompactionEntry,
  CompactionUndoneEntry,
  RedoEntry,
  Restores,
  RewindEntry,
  SnapshotEntry,
} from "./journal.ts";
import { knowsOfPlan, planReminder } from "./plan-reminder.ts";
import type { Past } from "./resume.ts";
import { rewindReminder } from "./rewind-reminder.ts";
import { createSessionContext, type SessionContext } from "./session-context.ts";
import { createTurns, type Turn, type Turns } from "./turns.ts";

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

/** What the journal has of the turns beside their events. */
export type TurnEntry = SnapshotEntry | RewindEntry | RedoEntry | CompactionEntry | CompactionUndoneEntry;

export type SessionOptions = {
  readonly id: string;
  readonly systemPrompt: string;
  /** Where the session goes on: its history, whose system prompt gives way, and the last number that an event has had. */
  readonly past?:
    | (Pick<Past, "messages" | "seq" | "closing"> & Partial<Pick<Past, "turns" | "compactions">>)
    | undefined;
  readonly engine: Engine;
  readonly sinks: readonly Sink[];
  /** Writes down what no event tells. */
  readonly note?: ((entry: TurnEntry) => void) | undefined;
  readonly clock: () => Date;
  /** From which share of the window on the context is compacted. Absent = never. */
  readonly compaction?: { readonly at: number; readonly strings: Strings["compaction"] } | undefined;
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
  readonly #turns: Turns;
  readonly #keeper: ContextKeeper | undefined;
  /** What the model is sent of the history; null where that is always all. */
  readonly context: SessionContext | null;
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
    this.#turns = createTurns(this.#history, options.past?.turns);
    this.#keeper =
      options.compaction &&
      new ContextKeeper({
        ...options.compaction,
        history: this.#history,
        past: options.past?.compactions,
        note: (entry) => this.#note(entry),
        clock: options.clock,
      });
    this.context = this.#keeper
      ? createSessionContext({
          keeper: this.#keeper,
          engine: () => this.#engine,
          publish: (body) => this.#publish(body),
          hold: () => this.#hold(),
        })
      : null;
    this.#seq = seq;
    // At once: what the model is told of an interrupted call must be written down before it is.
    for (const body of closing) this.#publish(body);
  }

  /** The conversation so far, system prompt first. */
  get messages(): readonly Message[] {
    return this.#history;
  }

  /** What can be gone back to. */
  get turns(): Pick<Turns, "list" | "going" | "steps" | "stepOf" | "undoable"> {
    return this.#turns;
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
      ...((started || prompted || permissionMode || this.#turns.untold().length > 0) && {
        admit: (one: Input, context: CheckContext) => this.#admit(one, context),
      }),
      stopping: stopping?.(),
      view: this.#keeper,
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

  /** Takes note of a snapshot of the files. */
  keep(snapshot: SnapshotEntry): void {
    this.#note(snapshot);
  }

  /**
   * Goes back to before the turn of this number, and returns it. The files are the caller's. Only between runs.
   * @throws where a run goes on, or where the history has no such turn
   */
  rewind(before: number, restores: Restores): Turn {
    const turn = this.#turns.find(before);
    if (this.#isRunning || !turn) throw new Error(`there is no going back to before event ${before} now`);
    this.#note({ type: "rewind", time: this.#options.clock().toISOString(), before, restores });
    return turn;
  }

  /** Takes the newest way back that counts back itself. Only between runs. */
  redo(): void {
    if (this.#isRunning || !this.#turns.undoable()) throw new Error("there is nothing to redo now");
    this.#note({ type: "redo", time: this.#options.clock().toISOString() });
  }

  /** As if a run went on: what would enter the history waits. */
  #hold(): () => void {
    if (this.#isRunning) throw new Error("not while a run goes on");
    this.#isRunning = true;
    return () => {
      this.#isRunning = false;
      this.#joinNotes();
    };
  }

  #note(entry: TurnEntry): void {
    this.#turns.add(entry);
    this.#keeper?.observe(entry);
    this.#options.note?.(entry);
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
    const reminders = [
      rewindReminder(this.#turns.untold()),
      planReminder(this.#history, this.#options.permissionMode?.() ?? "ask"),
    ].flatMap((content) => (content === undefined ? [] : [{ content, source: "reminder" as const }]));
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
    this.#turns.add(event);
    this.#keeper?.observe(event);
    for (const sink of this.#options.sinks) sink(event);
    if (body.type === "run.completed") {
      this.#isRunning = false;
      this.#joinNotes();
    }
    return event;
  }
}
