export interface RowRange {
  readonly firstRow: number;
  /** Exclusive. */
  readonly endRow: number;
}

interface Scrolled {
  readonly topPx: number;
  readonly heightPx: number;
  readonly rowPx: number;
  readonly count: number;
}

/** Returns which rows are seen at least in part. */
export function rowsInSight({ topPx, heightPx, rowPx, count }: Scrolled): RowRange {
  const firstRow = Math.min(Math.max(0, Math.floor(topPx / rowPx)), count);
  return { firstRow, endRow: Math.min(count, Math.max(firstRow, Math.ceil((topPx + heightPx) / rowPx))) };
}

/** Returns the same with some rows above and below, so that one picture serves while so many are scrolled. */
export function withOverscan({ firstRow, endRow }: RowRange, count: number): RowRange {
  return { firstRow: Math.max(0, firstRow - OVERSCAN_ROWS), endRow: Math.min(count, endRow + OVERSCAN_ROWS) };
}

export function isWithin(inner: RowRange, outer: RowRange): boolean {
  return inner.firstRow >= outer.firstRow && inner.endRow <= outer.endRow;
}

const OVERSCAN_ROWS = 8;
