import type { PermissionMode } from "../schema/event.ts";
import { isObservation, type Message } from "../schema/message.ts";

// For the model, and so in English like the system prompt, which must not change with the mode.
const BEGINS = `Reminder from harness9: plan mode is on. Only reading works: files can be read, and commands that only look run; edits and all other commands are refused, so do not try them. Find out what is needed. Your final answer is the plan: what will be changed and where, in which order, and how it is verified. A person decides whether it is carried out.`;
const ENDS = `Reminder from harness9: plan mode is over. Edits and commands work again, as far as the permission mode lets them.`;

const REMINDERS: readonly string[] = [BEGINS, ENDS];

/** What the model has to be told with the next input: that plan mode is on, or that it is over; nothing where it knows. */
export const planReminder = (history: readonly Message[], mode: PermissionMode): string | undefined => {
  const isPlan = mode === "plan";
  if (knowsOfPlan(history) === isPlan) return undefined;
  return isPlan ? BEGINS : ENDS;
};

/** Whether the model has been told of plan mode last. The history itself says so, whatever was taken up again or taken back. */
export const knowsOfPlan = (history: readonly Message[]): boolean =>
  history.findLast((message) => message.role === "user" && !isObservation(message) && isPlanReminder(message.content))
    ?.content === BEGINS;

/** Whether it is one of these reminders. The chat shows the mode itself. */
export const isPlanReminder = (content: string): boolean => REMINDERS.includes(content);
