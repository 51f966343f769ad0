/** What is known of a part of a list by now, without a row that one is reading moved. */
export interface TakenOver<T> {
  readonly rows: readonly T[];
  /** Rows came, went or changed their places, which shows once somebody asks for it. */
  readonly isMoved: boolean;
  readonly newCount: number;
}

/** Gives the rows that are shown their new contents and leaves them where they are. An empty list has none that could move. */
export function takeOver<T extends object>(shown: readonly T[], fresh: readonly T[]): TakenOver<T> {
  if (shown.length === 0) return { rows: fresh, isMoved: false, newCount: 0 };
  const byId = new Map(fresh.map((row) => [idOf(row), row]));
  const ids = new Set(shown.map(idOf));
  return {
    rows: shown.map((row) => byId.get(idOf(row)) ?? row),
    isMoved: shown.length !== fresh.length || shown.some((row, at) => idOf(row) !== idOf(fresh[at]!)),
    newCount: fresh.filter((row) => !ids.has(idOf(row))).length,
  };
}

function idOf(row: object): unknown {
  return "id" in row ? row.id : row;
}
