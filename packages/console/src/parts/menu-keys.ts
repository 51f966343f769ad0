/** Returns the item to which a key leads, or undefined if it is none of the keys that move. At the ends it goes on at the other one. */
export function nextItem(key: string, { at, count }: { at: number; count: number }): number | undefined {
  if (count === 0) return undefined;
  const moves: Readonly<Record<string, number>> = {
    ArrowDown: (at + 1) % count,
    ArrowUp: (at <= 0 ? count : at) - 1,
    Home: 0,
    End: count - 1,
  };
  return moves[key];
}
