import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createPermissions } from "../../src/permissions/permission-middleware.ts";
import { parseRule } from "../../src/permissions/rules.ts";
import type { Answer, Ask, PermissionQuestion, Reviser } from "../../src/schema/ask.ts";
import type { EngineEventBody, PermissionMode } from "../../src/schema/event.ts";
import { en } from "../../src/text/en.ts";
import { createBash } from "../../src/tools/builtin/bash.ts";
import { createEditFile } from "../../src/tools/builtin/edit-file.ts";
import { createWriteFile } from "../../src/tools/builtin/write-file.ts";
import { Registry } from "../../src/tools/registry.ts";
import { createPathLocks } from "../../src/tools/workspace/path-lock.ts";
import { createWorkspace } from "../../src/tools/workspace/workspace.ts";
import { tempDir } from "../helpers/temp-dir.ts";

type Person = (question: PermissionQuestion, reviser: Reviser, file: string) => Answer | Promise<Answer>;

/** A call under the permissions; the person answers the questions in order. */
const play = (
  call: readonly [name: string, args: object],
  persons: readonly Person[],
  { mode = "ask", deny = [], before }: { mode?: PermissionMode; deny?: readonly string[]; before?: string } = {},
) => {
  const dir = tempDir();
  const file = join(dir, "f.txt");
  if (before !== undefined) writeFileSync(file, before);
  const places = { workDir: dir, homeDir: join(dir, "home"), harnessHome: join(dir, "home", ".harness9") };
  const questions: PermissionQuestion[] = [];
  const events: EngineEventBody[] = [];
  const ask: Ask = async (question, _signal, reviser) => {
    if (question.kind !== "permission" || !reviser) throw new Error("not asked as expected");
    questions.push(question);
    return persons[questions.length - 1]?.(question, reviser, file) ?? { dismissed: true };
  };
  const permissions = createPermissions({
    mode: () => mode,
    rules: { allow: [], ask: [], deny: deny.map((rule) => parseRule(rule, en.permission)) },
    guard: true,
    places,
    strings: en.permission,
    ask,
  });
  const registry = new Registry({ strings: en.registry, middlewares: [permissions] });
  const files = {
    workspace: createWorkspace({ ...places, addedDirs: [], readableDirs: [] }),
    locks: createPathLocks(),
    strings: en,
  };
  registry.register(createEditFile(files));
  registry.register(createWriteFile(files));
  const bash = createBash({ workDir: dir, env: process.env, outputsDir: dir, strings: en });
  registry.register(bash.tool);
  const [name, args] = call;
  const toolCall = { id: "c1", name, arguments: JSON.stringify(args) };
  const context = {
    call: toolCall,
    signal: new AbortController().signal,
    emit: (event: EngineEventBody) => void events.push(event),
    session: { id: "s", workDir: dir, model: "m" },
  };
  const resolved = () => events.filter(({ type }) => type === "permission.resolved");
  return {
    run: async () => {
      const result = await registry.execute(toolCall, context);
      await bash.close();
      return result;
    },
    questions,
    resolved,
    content: () => readFileSync(file, "utf8"),
    file,
  };
};

const digest = (args: string): string => `sha256:${createHash("sha256").update(args).digest("hex").slice(0, 16)}`;

const yes = (question: PermissionQuestion): Answer => ({
  decision: "allow",
  scope: "once",
  arguments: question.arguments,
});

const revised = async (revision: ReturnType<Reviser["withText"]>): Promise<PermissionQuestion> => {
  const made = await revision;
  if (made.type !== "question") throw new Error(JSON.stringify(made));
  return made.question;
};

const draftOf = async (reviser: Reviser, question: PermissionQuestion) => {
  const draft = await reviser.draft(question);
  if ("problem" in draft) throw new Error(draft.problem);
  return draft;
};

/** The text, changed, and the question about it. */
const edited = async (question: PermissionQuestion, reviser: Reviser, change: (text: string) => string) => {
  const draft = await draftOf(reviser, question);
  return revised(reviser.withText(question, draft, change(draft.text)));
};

const LINES = Array.from({ length: 40 }, (_, index) => `line ${index}\r\n`).join("");
const EDIT = [
  "edit_file",
  {
    path: "f.txt",
    source_text: LINES,
    target_text: LINES.replace("line 3\r", "THREE\r").replace("line 20\r", "TWENTY\r").replace("line 35\r", "THIRTY\r"),
  },
] as const;

test("hunks are kept one by one, and the model is told what was done instead", async () => {
  const { run, questions, resolved, content } = play(
    EDIT,
    [
      async (question, reviser) => {
        const some = await revised(reviser.withHunks(question, [0, 2]));
        expect(some).toMatchObject({ offers: [], by: "mode", preview: { added: 2, removed: 2 } });
        return yes(await revised(reviser.withHunks(some, [1])));
      },
    ],
    { before: LINES },
  );
  const result = await run();
  expect(content()).toBe(LINES.replace("line 35\r", "THIRTY\r"));
  expect(questions).toHaveLength(1);
  const [first, ...note] = result.output.split("\n\n");
  expect(first).toBe("Edited file: f.txt");
  expect(note.join("\n\n")).toBe(
    [
      en.permission.changedCall,
      en.permission.changedText(
        [
          "--- proposed",
          "+++ applied",
          "@@ -1,7 +1,7 @@",
          ...[0, 1, 2].map((line) => ` line ${line}\r`),
          "-THREE\r",
          "+line 3\r",
          ...[4, 5, 6].map((line) => ` line ${line}\r`),
          "@@ -18,7 +18,7 @@",
          ...[17, 18, 19].map((line) => ` line ${line}\r`),
          "-TWENTY\r",
          "+line 20\r",
          ...[21, 22, 23].map((line) => ` line ${line}\r`),
        ].join("\n"),
      ),
    ].join("\n"),
  );
  // What is drawn is what was applied.
  expect(result.data).toMatchObject({ type: "diff", added: 1, removed: 1 });
  const args = JSON.stringify({ path: "f.txt", source_text: "line 35\r\n", target_text: "THIRTY\r\n" });
  expect(resolved()).toEqual([
    {
      type: "permission.resolved",
      toolCallId: "c1",
      name: "edit_file",
      decision: "allow",
      scope: "once",
      by: "person",
      argumentsDigest: digest(args),
    },
  ]);
});

test("a text that the person wrote is what the file holds, and a long difference is cut for the model", async () => {
  const mine = "mine\n".repeat(3000);
  const { run, content } = play(
    ["write_file", { path: "f.txt", content: "yours\n" }],
    [async (question, reviser) => yes(await edited(question, reviser, () => mine))],
  );
  const { output, isError } = await run();
  expect(isError).toBe(false);
  expect(content()).toBe(mine);
  expect(output).toContain("-yours\n+mine\n");
  expect(output).toContain(en.permission.changeCut);
  expect(Buffer.byteLength(output)).toBeLessThan(5000);
});

test("a changed command is what runs, and the model reads it", async () => {
  const { run, questions } = play(
    ["bash", { command: "touch a && echo theirs", description: "says it" }],
    [
      async (question, reviser) => {
        const mine = await edited(question, reviser, (text) => text.replace("theirs", "mine"));
        expect(mine).toMatchObject({ arguments: '{"command":"touch a && echo mine"}', offers: [] });
        return yes(mine);
      },
    ],
  );
  const result = await run();
  expect(result.output).toBe(
    `mine\n\n${en.permission.changedCall}\n${en.permission.changedCommand("touch a && echo mine")}`,
  );
  expect(result.data).toMatchObject({ type: "command", command: "touch a && echo mine" });
  expect(questions).toHaveLength(1);
});

test("a call that becomes guarded is shown as such, and asked once; a guarded one can be changed too", async () => {
  const force = await (async () => {
    const { run, questions } = play(
      ["bash", { command: "touch a" }],
      [
        async (question, reviser) => {
          const mine = await edited(question, reviser, () => "git reset --hard");
          expect(mine).toMatchObject({ by: "guard", offers: [] });
          return { decision: "reject", scope: "once" };
        },
      ],
    );
    return { result: await run(), questions };
  })();
  expect(force.questions).toHaveLength(1);
  expect(force.result).toMatchObject({ isError: true, output: "rejected by the user" });

  const { run, questions } = play(
    ["bash", { command: "git reset --hard" }],
    [async (question, reviser) => yes(await edited(question, reviser, () => "echo safe"))],
  );
  expect((await run()).output).toContain("safe");
  expect(questions).toHaveLength(1);
});

test("what was not shown as guarded is asked about again, and a yes to what was shown is one yes", async () => {
  const command = "git branch -D nothing-of-that-name";
  const args = JSON.stringify({ command });
  const unseen = play(
    ["bash", { command: "touch a" }],
    [() => ({ decision: "allow", scope: "once", arguments: args }), () => ({ decision: "reject", scope: "once" })],
  );
  expect((await unseen.run()).isError).toBe(true);
  expect(unseen.questions.map(({ by }) => by)).toEqual(["mode", "guard"]);

  const seen = play(
    ["bash", { command: "touch a" }],
    [async (question, reviser) => yes(await edited(question, reviser, () => command))],
  );
  expect((await seen.run()).output).toContain(en.permission.changedCommand(command));
  expect(seen.questions.map(({ by }) => by)).toEqual(["mode"]);
});

test("a rule that is answered for a changed call is not kept", async () => {
  const { run, questions, resolved } = play(
    ["bash", { command: "touch a" }],
    [
      async (question, reviser) => {
        const { arguments: text } = await edited(question, reviser, () => "touch b");
        const rule = question.offers[0]?.rule ?? "";
        return { decision: "allow", scope: "session", rule, arguments: text };
      },
    ],
  );
  await run();
  await run();
  expect(questions).toHaveLength(2);
  expect(resolved()[0]).toMatchObject({ scope: "once" });
  expect(resolved()[0]).not.toHaveProperty("rule");
});

test.each<
  readonly [string, (question: PermissionQuestion, reviser: Reviser, file: string) => Promise<unknown>, object]
>([
  [
    "a file that another program changed while the person was editing",
    async (question, reviser, file) => {
      const draft = await draftOf(reviser, question);
      writeFileSync(file, `${LINES}more\r\n`);
      return reviser.withText(question, draft, "mine");
    },
    { type: "problem", problem: en.permission.fileChanged, question: { offers: [{ scope: "session" }, {}, {}] } },
  ],
  [
    "hunks that are no longer those that stand there",
    async (question, reviser, file) => {
      writeFileSync(file, `more\r\n${LINES}`);
      return reviser.withHunks(question, [0]);
    },
    {
      type: "problem",
      problem: en.permission.fileChanged,
      question: { preview: { hunks: [{ oldStart: 2 }, {}, {}] } },
    },
  ],
  [
    "a place that is gone",
    async (question, reviser, file) => {
      writeFileSync(file, "other\n");
      return reviser.withHunks(question, [0]);
    },
    { type: "problem", problem: expect.stringContaining("not found") },
  ],
  [
    "a file that is gone",
    async (question, reviser, file) => {
      writeFileSync(file, Buffer.from([0, 1, 2]));
      return reviser.draft(question);
    },
    { problem: expect.stringContaining("binary") },
  ],
  ["no hunk at all", (question, reviser) => reviser.withHunks(question, []), { type: "nothing" }],
  [
    "the old text",
    async (question, reviser) => reviser.withText(question, await draftOf(reviser, question), LINES),
    { type: "nothing" },
  ],
])("%s is no change, and nothing is written", async (_name, change, made) => {
  let seen: unknown;
  const { run, questions } = play(
    EDIT,
    [
      async (question, reviser, file) => {
        seen = await change(question, reviser, file);
        return { dismissed: true };
      },
    ],
    { before: LINES },
  );
  expect((await run()).isError).toBe(true);
  expect(seen).toMatchObject(made);
  expect(questions).toHaveLength(1);
});

test("a changed command that a rule refuses leaves the question open", async () => {
  const { run } = play(
    ["bash", { command: "touch a" }],
    [
      async (question, reviser) => {
        const draft = await draftOf(reviser, question);
        expect(await reviser.withText(question, draft, "npm publish")).toEqual({
          type: "problem",
          problem: "denied by policy: rule deny bash(npm publish)",
        });
        return { decision: "allow", scope: "once" };
      },
    ],
    { deny: ["bash(npm publish)"] },
  );
  expect((await run()).output).not.toContain(en.permission.changedCall);
});

test("each decision names the arguments that it is about, also where nobody was asked", async () => {
  const { run, resolved } = play(["bash", { command: "touch a" }], [], { mode: "auto" });
  await run();
  expect(resolved()).toEqual([
    {
      type: "permission.resolved",
      toolCallId: "c1",
      name: "bash",
      decision: "allow",
      scope: "once",
      by: "mode",
      argumentsDigest: digest('{"command":"touch a"}'),
    },
  ]);
});
