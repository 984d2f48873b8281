export type CodeBlock = { readonly language: string; readonly text: string };

/** The fenced code blocks of a page, in order. */
export const codeBlocks = (page: string): readonly CodeBlock[] =>
  [...page.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(([, language = "", text = ""]) => ({ language, text }));

/** The levels of a page's headings, in order, as in [1, 2, 2]. Lines inside code blocks are none. */
export const headingLevels = (page: string): readonly number[] =>
  [...page.replace(/^```[\s\S]*?^```$/gm, "").matchAll(/^(#+) /gm)].map(([, marks = ""]) => marks.length);

/** The rows of the table under the heading whose text contains `heading`, as trimmed cells without backticks; the header row is left out. */
export const tableUnder = (page: string, heading: string): readonly (readonly string[])[] =>
  rowsUnder(page, heading).slice(2);

/** The header row of that table. */
export const tableHead = (page: string, heading: string): readonly string[] => rowsUnder(page, heading)[0] ?? [];

const rowsUnder = (page: string, heading: string): readonly (readonly string[])[] => {
  const section = page.split(/^#+ /m).find((part) => part.split("\n", 1)[0]?.includes(heading)) ?? "";
  const rows = section.split("\n").filter((line) => line.startsWith("|"));
  return rows.map((row) =>
    row
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim().replaceAll("`", "")),
  );
};
