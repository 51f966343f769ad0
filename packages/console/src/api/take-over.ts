/** What is known of a part of a list by now, without a row that one is reading moved. */
export interface TakenOver<T> {
  readonly rows: readonly T[];
  /** Rows came, went or changed their places, which shows once somebody asks for it. */
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

/** How many rows are not shown yet. `shown` and `fresh` are all that is looked at, since a new row moves others from one part to the next. */
export function countNew(shown: readonly object[], fresh: readonly object[]): number {
  const known = new Set(shown.map(idOf));
  return new Set(fresh.map(idOf).filter((id) => !known.has(id))).size;
}

function idOf(row: object): unknown {
  return "id" in row ? row.id : row;
}
