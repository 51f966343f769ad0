const MOST_PAGES = 3;

/** Returns which pages hold the rows from `first` to `last`, at most three of them. */
export function pagesOf(
  { first, last }: { first: number; last: number },
  { rows, total = Number.POSITIVE_INFINITY }: { rows: number; total: number | undefined },
): number[] {
  const lastRow = Math.min(last, Math.max(0, total - 1));
  const from = Math.max(0, Math.floor(Math.min(first, lastRow) / rows));
  const to = Math.max(from, Math.floor(lastRow / rows));
  return Array.from({ length: Math.min(MOST_PAGES, to - from + 1) }, (_, at) => from + at);
}

/**
 * Returns how many rows a list has, as far as one of its pages shows. After a full page one more row is counted: once it is in sight, the
 * next page is asked for. `most` is the former count.
 */
export function countRows(
  { page, length }: { page: number; length: number },
  { rows, most }: { rows: number; most: number },
): number {
  const known = page * rows + length;
  return length < rows ? known : Math.max(known + 1, most);
}
