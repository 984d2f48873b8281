const CONTEXT_LINES = 3;
const TIMEOUT_MS = 300;

export type UnifiedDiffOptions = {
  readonly before: { readonly name: string; readonly text: string };
  readonly after: { readonly name: string; readonly text: string };
};

/** A unified diff as text, for the model. Null where the texts differ too much to be compared in time. */
export const unifiedDiff = async ({ before, after }: UnifiedDiffOptions): Promise<string | null> => {
  const { structuredPatch } = await import("diff");
  const patch = structuredPatch(before.name, after.name, before.text, after.text, undefined, undefined, {
    context: CONTEXT_LINES,
    timeout: TIMEOUT_MS,
  });
  if (!patch) return null;
  const hunks = patch.hunks.flatMap(({ oldStart, oldLines, newStart, newLines, lines }) => [
    `@@ -${range(oldStart, oldLines)} +${range(newStart, newLines)} @@`,
    ...lines,
  ]);
  return [`--- ${before.name}`, `+++ ${after.name}`, ...hunks].join("\n");
};

/** An empty range is named by the line before it. */
const range = (start: number, lines: number): string => `${lines === 0 ? start - 1 : start},${lines}`;
