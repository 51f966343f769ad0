/** A part of a list with newer contents, in which no row has moved, because a user may be reading it. */
export interface TakenOver<T> {
  readonly rows: readonly T[];
  /** Rows came, went or changed their places, which is shown on request. */
  readonly isMoved: boolean;
}

/** Gives the rows that are shown their new contents and leaves them where they are. An empty list has none that could move. */
export function takeOver<T extends object>(shown: readonly T[], fresh: readonly T[]): TakenOver<T> {
  if (shown.length === 0) return { rows: fresh, isMoved: false };
  const byId = new Map(fresh.map((row) => [idOf(row), row]));
  return {
    rows: shown.map((row) => byId.get(idOf(row)) ?? row),
    isMoved: shown.length !== fresh.length || shown.some((row, at) => idOf(row) !== idOf(fresh[at]!)),
  };
}

/**
 * Counts the rows that are not shown yet. Only `shown` and `fresh` are compared, because a new row moves others from one part to the next.
 */
export function countNew(shown: readonly object[], fresh: readonly object[]): number {
  const known = new Set(shown.map(idOf));
  return new Set(fresh.map(idOf).filter((id) => !known.has(id))).size;
}

function idOf(row: object): unknown {
  return "id" in row ? row.id : row;
}
