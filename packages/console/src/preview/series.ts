import type { Gap } from "./gaps.ts";

/** Where a line is drawn: null breaks it, undefined is passed over. */
export type Point = number | null | undefined;

export interface Columns {
  readonly startNs: number;
  readonly endNs: number;
  /** The number of pixels. Each has two points: the least and the most, in the order in which they came. */
  readonly count: number;
}

export interface Sample {
  readonly timeNs: number;
  /** Undefined where the message has no such field. */
  readonly value: number | undefined;
}

/** Returns the times of the points, in nanoseconds. */
export function columnTimes({ startNs, endNs, count }: Columns): number[] {
  const halfNs = (endNs - startNs) / (2 * count);
  return Array.from({ length: 2 * count }, (_, index) => startNs + (index + 0.5) * halfNs);
}

/** Brings samples in order of time down to two points a column, without losing a peak, and breaks the line at gaps. */
export function toPoints(samples: Iterable<Sample>, columns: Columns, gaps: readonly Gap[]): Point[] {
  const points: Point[] = new Array(2 * columns.count).fill(undefined);
  for (const { timeNs, value } of samples) {
    const column = columnOf(timeNs, columns);
    if (column >= 0 && column < columns.count && value !== undefined) addTo(points, column, value);
  }
  for (const gap of gaps) breakLine(points, columns, gap);
  return points;
}

function columnOf(timeNs: number, { startNs, endNs, count }: Columns): number {
  if (timeNs === endNs) return count - 1;
  return Math.floor(((timeNs - startNs) / (endNs - startNs)) * count);
}

/** No number can be drawn for NaN and the infinities: they are breaks, unless the column has a number too. */
function addTo(points: Point[], column: number, value: number): void {
  const [first, second] = [2 * column, 2 * column + 1];
  if (!Number.isFinite(value)) {
    if (points[first] === undefined) points[first] = null;
    return;
  }
  const [one, other] = [points[first], points[second]];
  if (one === undefined || one === null) points[first] = value;
  else if (other === undefined || other === null) points[second] = value;
  else if (value < Math.min(one, other)) [points[first], points[second]] = [Math.max(one, other), value];
  else if (value > Math.max(one, other)) [points[first], points[second]] = [Math.min(one, other), value];
}

/** All points of a silence are breaks: the drawing leaves out no more than those. */
function breakLine(points: Point[], columns: Columns, { startNs, endNs }: Gap): void {
  const first = Math.max(0, 2 * columnOf(startNs, columns) + 1);
  const end = Math.min(points.length, 2 * columnOf(endNs, columns));
  for (let at = first; at < end; at += 1) points[at] ??= null;
}
