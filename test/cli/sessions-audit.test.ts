import { expect, test } from "vitest";
import { auditRow, createAudit } from "../../src/cli/sessions-audit.ts";
import type { PermissionQuestion } from "../../src/schema/ask.ts";
import type { EngineEventBody } from "../../src/schema/event.ts";
import type { JournalEntry } from "../../src/session/journal.ts";
import { en } from "../../src/text/en.ts";

type Body = EngineEventBody<"permission.requested" | "permission.resolved">;

const decisionsOf = (...bodies: readonly Body[]) => {
  const audit = createAudit();
  const time = "2026-01-01T00:00:00.000Z";
  return bodies.flatMap((body, index) => {
    const decision = audit.add({ ...body, sessionId: "s", seq: index + 1, time } as JournalEntry);
    return decision ? [decision] : [];
  });
};

const asked = (by: PermissionQuestion["by"]): Body => ({
  type: "permission.requested",
  toolCallId: "c1",
  question: { kind: "permission", toolCallId: "c1", name: "bash", arguments: "{}", reason: "", by, offers: [] },
});

const answered = (by: "person" | "mode"): Body => ({
  type: "permission.resolved",
  toolCallId: "c1",
  name: "bash",
  decision: "allow",
  scope: "once",
  by,
  argumentsDigest: "sha256:0123456789abcdef",
});

test("a yes to run a command outside the sandbox is told from a yes to run it", () => {
  const decisions = decisionsOf(asked("mode"), answered("person"), asked("sandbox"), answered("person"));
  expect(decisions.map(({ askedBy }) => askedBy)).toEqual(["mode", "sandbox"]);
  expect(decisions.map((decision) => auditRow(decision, en.sessions)[3])).toEqual([
    "person (mode)",
    "person (sandbox)",
  ]);
});

test("where nobody was asked, nothing has asked", () => {
  expect(decisionsOf(answered("mode")).map(({ askedBy }) => askedBy)).toEqual([null]);
});
