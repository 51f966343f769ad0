const PAGE = 20;

/** Returns the row to which a key leads, or undefined if it moves nothing. */
export function rowAfter(key: string, { at, count }: { at: number; count: number }): number | undefined {
  const moves: Readonly<Record<string, number>> = {
    ArrowDown: at + 1,
    j: at + 1,
    ArrowUp: at - 1,
    k: at - 1,
    PageDown: at + PAGE,
    PageUp: at - PAGE,
    Home: 0,
    End: count - 1,
  };
  const to = moves[key];
  return to === undefined || count === 0 ? undefined : Math.max(0, Math.min(count - 1, to));
}
