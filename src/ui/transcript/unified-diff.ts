import type { DiffHunk } from "../../schema/tool.ts";

const HEADER = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;

/** The hunks of one file's unified diff. The counts in their headers say where they end, whatever their lines look like. */
export const parseUnifiedDiff = (text: string): readonly DiffHunk[] => {
  const rows = text.split("\n");
  const hunks: DiffHunk[] = [];
  for (let at = 0; at < rows.length; at += 1) {
    const header = HEADER.exec(rows[at] ?? "");
    if (!header) continue;
    const [oldStart = 0, oldLines = 1, newStart = 0, newLines = 1] = header
      .slice(1)
      .map((number) => (number === undefined ? undefined : Number(number)));
    const lines: string[] = [];
    let oldLeft = oldLines;
    let newLeft = newLines;
    while ((oldLeft > 0 || newLeft > 0) && at + 1 < rows.length) {
      at += 1;
      const row = rows[at] ?? "";
      if (row.startsWith("\\")) continue;
      lines.push(row);
      if (!row.startsWith("+")) oldLeft -= 1;
      if (!row.startsWith("-")) newLeft -= 1;
    }
    hunks.push({ oldStart, oldLines, newStart, newLines, lines });
  }
  return hunks;
};
