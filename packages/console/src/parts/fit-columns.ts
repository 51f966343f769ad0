/** As in `table.css`: between two columns, and at both ends of a row together. */
const GAP_PX = 12;
const ENDS_PX = 24;
const CHECK_PX = 36;

interface Fitted {
  /** As in `grid-template-columns`: `120px`, `minmax(120px, 2fr)`. */
  readonly width: string;
  /** Absent for a column that must stay. */
  readonly spare?: number;
}

interface Place {
  /** 0 where it is not measured yet. */
  readonly widthPx: number;
  readonly hasSelection: boolean;
}

/** Returns the columns that have room beside each other: of those that can be spared, the least important ones are left out first. */
export function fitColumns<C extends Fitted>(columns: readonly C[], { widthPx, hasSelection }: Place): readonly C[] {
  const others = ENDS_PX + (hasSelection ? CHECK_PX + GAP_PX : 0) - GAP_PX;
  const needed = (kept: readonly C[]) => kept.reduce((sum, { width }) => sum + leastPx(width) + GAP_PX, others);
  const spared = columns.filter(({ spare }) => spare !== undefined).sort((one, other) => one.spare! - other.spare!);
  let kept = columns;
  for (const column of spared) {
    if (widthPx === 0 || needed(kept) <= widthPx) return kept;
    kept = kept.filter((one) => one !== column);
  }
  return kept;
}

/** Returns the least width of a column: both `84px` and `minmax(84px, 1fr)` begin with it. */
function leastPx(width: string): number {
  return Number(/(\d+)px/.exec(width)?.[1] ?? 0);
}
