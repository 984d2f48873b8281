import { type Cluster, eachWidth, type Layout, lineClusters, PRINTABLE_ASCII } from "./editor-clusters.ts";

/** What stands in one row of the terminal; places count from the beginning of the line. */
export type WrappedRow = {
  readonly start: number;
  readonly end: number;
  readonly clusters: readonly Cluster[];
};

/** A line in rows of at most `layout.columns` cells, cut between characters. At least one row. */
export const wrapLine = (line: string, layout: Layout): WrappedRow[] => {
  const rows: WrappedRow[] = [];
  let clusters: Cluster[] = [];
  let width = 0;
  let start = 0;
  for (const cluster of lineClusters(line, layout)) {
    if (width + cluster.width > layout.columns && clusters.length > 0) {
      rows.push({ start, end: cluster.start, clusters });
      start = cluster.start;
      clusters = [];
      width = 0;
    }
    clusters.push(cluster);
    width += cluster.width;
  }
  return [...rows, { start, end: line.length, clusters }];
};

/** How many rows `wrapLine` makes. */
export const countRows = (line: string, layout: Layout): number => {
  if (PRINTABLE_ASCII.test(line)) return Math.max(1, Math.ceil(line.length / layout.columns));
  let rows = 1;
  let width = 0;
  eachWidth(line, layout, (cells) => {
    const fits = width + cells <= layout.columns;
    if (!fits) rows += 1;
    width = fits ? width + cells : cells;
  });
  return rows;
};

/** The row that a place of the line is in: between two rows it is the lower one. */
export const rowOf = (rows: readonly WrappedRow[], at: number): number =>
  Math.max(
    0,
    rows.findLastIndex((row) => row.start <= at),
  );

/** Cells before a place of the row. */
export const columnOf = (row: WrappedRow, at: number): number =>
  row.clusters.reduce((sum, cluster) => (cluster.end <= at ? sum + cluster.width : sum), 0);

/** The place nearest before a column; the end of a row that goes on belongs to the next one. */
export const placeAt = (row: WrappedRow, column: number, goesOn: boolean): number => {
  let width = 0;
  for (const [index, cluster] of row.clusters.entries()) {
    const isLast = index === row.clusters.length - 1;
    width += cluster.width;
    if (width > column || (isLast && goesOn)) return cluster.start;
  }
  return row.end;
};
