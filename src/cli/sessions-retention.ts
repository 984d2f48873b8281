import { readFileSync } from "node:fs";
import { join } from "node:path";
import { writePrivateFile } from "../config/paths.ts";
import { errorCode } from "../text/error-message.ts";
import type { Setup } from "./setup.ts";

const DAY_MS = 86_400_000;

/**
 * Removes old sessions by itself, at most once a day, as the setting `retention.days` says, and states of the files that
 * nobody needs or that are too many, and old compiled code. For a session's end: at its start nobody should wait. Where
 * nothing can be removed now, the next day's check may. Never throws for the system's sake.
 */
export const retainSessions = async (setup: Setup, now: Date): Promise<void> => {
  const days = setup.config.settings["retention.days"] ?? Number.POSITIVE_INFINITY;
  const marker = join(setup.paths.home, "retention.json");
  const last = lastCheck(marker);
  const sinceMs = last === undefined ? undefined : now.getTime() - last;
  if (sinceMs !== undefined && sinceMs >= 0 && sinceMs < DAY_MS) return;
  try {
    await writePrivateFile(marker, `${JSON.stringify({ checkedAt: now.toISOString() })}\n`);
  } catch (error) {
    // Where this cannot be written, nothing can be removed either.
    if (errorCode(error) !== undefined) return;
    throw error;
  }
  // A clock that was wrong, or a person who was away: what is old by one look only has a day more.
  if (sinceMs === undefined || sinceMs < 0 || sinceMs > days * DAY_MS) return;
  const { trimCompileCache } = await import("./compile-cache.ts");
  await trimCompileCache(setup.paths.home, now.getTime());
  const { removeOldSessions } = await import("./sessions-removal.ts");
  await removeOldSessions(setup, now.getTime() - days * DAY_MS);
};

/** When it was, in milliseconds; undefined where that is not known. */
const lastCheck = (marker: string): number | undefined => {
  try {
    const { checkedAt } = Object(JSON.parse(readFileSync(marker, "utf8"))) as Readonly<Record<string, unknown>>;
    const time = typeof checkedAt === "string" ? Date.parse(checkedAt) : Number.NaN;
    return Number.isNaN(time) ? undefined : time;
  } catch {
    // The first time, or it is damaged.
    return undefined;
  }
};
