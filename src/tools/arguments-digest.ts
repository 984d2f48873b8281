import { createHash } from "node:crypto";
import type { ToolCall } from "../schema/tool.ts";

/** Names the arguments of a call without holding them: `sha256:` and 16 hex digits of their text. */
export const argumentsDigest = (call: ToolCall): string =>
  `sha256:${createHash("sha256").update(call.arguments).digest("hex").slice(0, 16)}`;
