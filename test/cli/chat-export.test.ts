import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { marked } from "marked";
import { expect, test } from "vitest";
import { conversationMarkdown, exportPath, writeNewFile } from "../../src/cli/chat-export.ts";
import type { Message } from "../../src/schema/message.ts";
import { planReminder } from "../../src/session/plan-reminder.ts";
import { loadStrings } from "../../src/text/strings.ts";
import { UserError } from "../../src/text/user-error.ts";
import { tempDir } from "../helpers/temp-dir.ts";

const en = await loadStrings("en");
const title = { sessionId: "20260102-030405-abcd", workDir: "/work", model: "openai/gpt" };
const markdown = (...messages: readonly Message[]): string => conversationMarkdown(messages, title, en.chat);

test("a conversation reads as it went, without the system prompt", () => {
  expect(
    markdown(
      { role: "system", content: "You are harness9" },
      { role: "user", content: "look", attachments: [{ kind: "image", mediaType: "image/png", path: "a.png" }] },
      {
        role: "assistant",
        content: "I'll read it.",
        thinking: { kind: "native", text: "one\n\ntwo" },
        toolCalls: [{ id: "1", name: "read_file", arguments: '{"path":"a"}' }],
      },
      { role: "user", toolCallId: "1", content: "text\n", isError: false },
      { role: "assistant", content: "", toolCalls: [{ id: "2", name: "bash", arguments: "{}" }] },
      { role: "user", toolCallId: "2", content: "a ``` b ```` c", isError: true },
      { role: "assistant", content: "Done.", toolCalls: [] },
    ),
  ).toBe(`# harness9 20260102-030405-abcd

- /work
- openai/gpt

## You

look

- \`a.png\`

## Model

> one
>
> two

I'll read it.

### read_file

\`\`\`json
{"path":"a"}
\`\`\`

Result:

\`\`\`
text
\`\`\`

## Model

### bash

\`\`\`json
{}
\`\`\`

Failed:

\`\`\`\`\`
a \`\`\` b \`\`\`\` c
\`\`\`\`\`

## Model

Done.
`);
});

test("what harness9 reminds the model of was said by nobody", () => {
  const reminder = planReminder([], "plan");
  if (reminder === undefined) throw new Error("no reminder");
  const told: Message = { role: "user", content: "plan it" };
  expect(markdown(told, { role: "user", content: reminder })).toBe(markdown(told));
});

test("keys are masked and nothing in it can drive a terminal", () => {
  const text = markdown({ role: "user", toolCallId: "1", content: "\x1b[31msk-abcdefghijklmnopqrst", isError: false });
  expect(text).toContain("[masked]");
  expect(text).not.toMatch(/sk-abc|\x1b/);
});

test("whatever a tool returns stays in its block", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom("```", "````", "a", "\n", "~~~", "# x", " ")), (parts) => {
      const content = parts.join("");
      const blocks = marked
        .lexer(markdown({ role: "user", toolCallId: "1", content, isError: false }))
        .flatMap((token) => (token.type === "code" ? [token.text as string] : []));
      expect(blocks.map((text) => text.trimEnd())).toEqual([content.trimEnd()]);
    }),
  );
});

test("where it goes: a name in the work directory, the one that was asked for, or ours in a folder", () => {
  const workDir = tempDir();
  mkdirSync(join(workDir, "out"));
  const at = (asked?: string) => exportPath(asked, { sessionId: "ID", workDir, homeDir: "/home/me" });
  expect([at(), at(" "), at("x.md"), at("out"), at("/tmp/y.md"), at("~/z.md"), at("~z")]).toEqual([
    join(workDir, "harness9-ID.md"),
    join(workDir, "harness9-ID.md"),
    join(workDir, "x.md"),
    join(workDir, "out", "harness9-ID.md"),
    "/tmp/y.md",
    "/home/me/z.md",
    join(workDir, "~z"),
  ]);
});

test("no file is written over", async () => {
  const dir = tempDir();
  writeFileSync(join(dir, "a.md"), "mine");
  const write = () => writeNewFile(join(dir, "a.md"), "text", en.cli);
  expect([await write(), await write()]).toEqual([join(dir, "a-1.md"), join(dir, "a-2.md")]);
  expect(readdirSync(dir).map((name) => readFileSync(join(dir, name), "utf8"))).toEqual(["text", "text", "mine"]);
});

test("a folder that is not there is the person's to mend", async () => {
  await expect(writeNewFile(join(tempDir(), "no", "a.md"), "text", en.cli)).rejects.toThrow(UserError);
});
