import { PERMISSION_MODES } from "../../schema/event.ts";
import type { Chat } from "../../session/chat.ts";
import type { Strings } from "../../text/strings.ts";
import { THEMES, THINKING_CHOICES } from "../commands/run-command.ts";
import { describeCommands, describeSkills } from "../commands/slash-commands.ts";
import {
  applyCompletion,
  type Completion,
  type CompletionEdit,
  type CompletionSources,
  completionAt,
  completionItems,
} from "./completion.ts";
import type { CompletionMenu } from "./completion-lines.ts";
import { createFileList, type FileList } from "./file-completion.ts";
import { loadRank, plainRank, type Rank } from "./fuzzy.ts";

const LIMIT = 100;

export type CompleterOptions = {
  readonly chat: () => Chat | null;
  readonly strings: Strings["commands"];
  readonly show: (menu: CompletionMenu | null) => void;
  readonly signal: AbortSignal;
};

/** The menu below the input: follows what is typed, and loads what it needs when it is first needed. */
export interface Completer {
  /** The text or the cursor (a UTF-16 index) has changed. */
  update(text: string, cursor: number): void;
  /** The same, also where the menu was closed. */
  open(text: string, cursor: number): void;
  /** Whether the menu stands open. */
  readonly isOpen: boolean;
  /** What the selected row completes. */
  readonly kind: Completion["kind"] | undefined;
  move(by: number): void;
  /** The edit that takes the selected row. */
  accept(text: string): CompletionEdit | undefined;
  /** Closes the menu until what stands at the cursor is another. */
  close(): void;
}

const NO_FILES = createFileList([]);

export const createCompleter = ({ chat, strings, show, signal }: CompleterOptions): Completer => {
  let rank: Rank = plainRank;
  let files: FileList | undefined;
  let models: readonly string[] | undefined;
  /** The provider whose list that is, or is being read. */
  let modelsOf: string | undefined;
  let hasAskedForRank = false;
  let filesFor: number | undefined;
  let completion: Completion | undefined;
  let menu: CompletionMenu | null = null;
  let closedAt: number | undefined;
  let last = { text: "", cursor: 0 };

  const again = (): void => update(last.text, last.cursor);

  const load = (machine: Chat, kind: Completion): void => {
    if (!hasAskedForRank) {
      hasAskedForRank = true;
      void loadRank().then((loaded) => {
        rank = loaded;
        again();
      });
    }
    // Each time that one begins: files come and go while the model works.
    if (kind.kind === "file" && filesFor !== kind.start) {
      filesFor = kind.start;
      void machine.listFiles(signal).then((found) => {
        files = createFileList(found);
        again();
      });
    }
    if (listsModels(kind)) loadModels(machine);
  };

  const loadModels = (machine: Chat): void => {
    const { provider } = machine.info();
    if (modelsOf === provider) return;
    modelsOf = provider;
    models = undefined;
    void machine.listModels(signal).then(
      (found) => {
        if (modelsOf !== provider) return;
        models = found.map((model) => `${model.provider}/${model.id}`);
        again();
      },
      // `/model` itself says why its endpoint lists none.
      () => undefined,
    );
  };

  // The same arrays at each key: what is prepared for them is kept.
  let providers: readonly string[] = [];
  const sources = (machine: Chat): CompletionSources => {
    if (providers.length === 0) providers = machine.loginProviders().map(({ name }) => name);
    const choices = {
      model: models ?? [],
      login: providers,
      thinking: THINKING_CHOICES,
      permissions: PERMISSION_MODES,
      theme: THEMES,
    };
    const commands = [...describeCommands(strings), ...describeSkills(machine.skills.list())];
    return { commands, files: files ?? NO_FILES, arguments: choices };
  };

  const update = (text: string, cursor: number): void => {
    last = { text, cursor };
    const machine = chat();
    const found = machine ? completionAt(text, cursor) : undefined;
    if (found?.start !== closedAt) closedAt = undefined;
    if (found?.kind !== "file") filesFor = undefined;
    // What could not be read is tried again when one begins again.
    if (models === undefined && !listsModels(found)) modelsOf = undefined;
    if (!machine || !found || closedAt !== undefined) {
      put(found, null);
      return;
    }
    load(machine, found);
    const { items, total } = completionItems(found, sources(machine), rank, LIMIT);
    put(found, items.length === 0 ? null : { items, total, selected: 0 });
  };

  const put = (found: Completion | undefined, next: CompletionMenu | null): void => {
    completion = found;
    if (menu === null && next === null) return;
    menu = next;
    show(menu);
  };

  return {
    update,
    open: (text, cursor) => {
      closedAt = undefined;
      update(text, cursor);
    },
    get isOpen() {
      return menu !== null;
    },
    get kind() {
      return menu === null ? undefined : completion?.kind;
    },
    move: (by) => {
      if (!menu) return;
      const count = menu.items.length;
      put(completion, { ...menu, selected: (menu.selected + by + count) % count });
    },
    accept: (text) => {
      const item = menu?.items[menu.selected];
      return item && completion ? applyCompletion(text, completion, item.value) : undefined;
    },
    close: () => {
      closedAt = completion?.start;
      put(completion, null);
    },
  };
};

const listsModels = (completion: Completion | undefined): boolean =>
  completion?.kind === "argument" && completion.command === "model";
