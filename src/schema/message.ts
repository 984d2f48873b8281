import type { ToolCall } from "./tool.ts";

/** An image that travels with a message. The bytes stay in the file; events carry only this record. */
export type Attachment = { readonly kind: "image"; readonly mediaType: string; readonly path: string };

/**
 * What the model thought before it answered. `blocks` are the provider's own opaque records
 * (signed or encrypted reasoning); they are sent back unchanged where the API asks for it.
 */
export type Thinking = {
  readonly kind: "two-stage" | "native";
  readonly text: string;
  readonly blocks?: readonly unknown[];
  /**
   * Where the blocks stood, unless all came before text and calls: the message's parts in the model's order. `thinking`
   * and `call` are the next block and the next call, a number is as many UTF-16 units of the content.
   */
  readonly layout?: readonly ("thinking" | "call" | number)[];
};

export type SystemMessage = { readonly role: "system"; readonly content: string };

export type UserMessage = {
  readonly role: "user";
  readonly content: string;
  readonly attachments?: readonly Attachment[];
};

export type AssistantMessage = {
  readonly role: "assistant";
  readonly content: string;
  readonly thinking?: Thinking;
  readonly toolCalls: readonly ToolCall[];
};

/** The answer to one tool call: a user-role message with the call's id. Each provider maps it to its own API. */
export type Observation = {
  readonly role: "user";
  readonly toolCallId: string;
  readonly content: string;
  readonly isError: boolean;
  readonly attachments?: readonly Attachment[];
};

export type Message = SystemMessage | UserMessage | AssistantMessage | Observation;

export const isObservation = (message: Message): message is Observation => "toolCallId" in message;
