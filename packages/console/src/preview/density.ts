import type { Span } from "./look-props.ts";

/** Returns how dense messages are in each of so many equal parts of a span, from 0 to 1 in the densest. */
export function measureDensity(topics: readonly (readonly number[])[], span: Span, columns: number): number[] {
  const counts = new Array<number>(columns).fill(0);
  const scale = columns / Math.max(1, span.endNs - span.startNs);
  for (const timesNs of topics)
    for (const timeNs of timesNs) {
      const column = Math.min(columns - 1, Math.floor((timeNs - span.startNs) * scale));
      if (column >= 0 && timeNs <= span.endNs) counts[column]! += 1;
    }
  const most = Math.max(1, ...counts);
  return counts.map((count) => count / most);
}

/** Returns the path of a bar for each column that is not empty, in a box that is one high and one wide for each. */
export function drawDensity(density: readonly number[]): string {
  return density.map((part, at) => (part === 0 ? "" : `M${at} 1v${-Math.max(0.1, part).toFixed(2)}h.7V1z`)).join("");
}
