import type { AgentPoint } from "@downlink/protocol";
import { toMs } from "../time/format-time.ts";

const HOUR_MS = 3_600_000;
/** A line through less time than this says nothing about the next days. */
const LEAST_SPAN_MS = 6 * HOUR_MS;
/** A disk that is full later than this is not reported, because it is too early to act on it. */
const FARTHEST_MS = 90 * 24 * HOUR_MS;

export type Forecast =
  | { readonly kind: "unknown" }
  | { readonly kind: "steady" }
  | { readonly kind: "full"; readonly atMs: number; readonly bytesPerDay: number };

/**
 * Returns when the disk is full if it goes on as it did: by a straight line through the free space of the last seven days, with the least
 * squares. Undefined unless the disk loses space on the whole.
 */
export function forecastDisk(points: readonly Pick<AgentPoint, "at" | "freeBytes">[], nowMs: number): Forecast {
  const known = points.flatMap(({ at, freeBytes }) => (freeBytes === undefined ? [] : [{ x: toMs(at), y: freeBytes }]));
  const xs = known.map(({ x }) => x);
  if (known.length < 3 || Math.max(...xs) - Math.min(...xs) < LEAST_SPAN_MS) return { kind: "unknown" };
  const bytesPerMs = slopeOf(known);
  if (bytesPerMs >= 0) return { kind: "steady" };
  const last = known.reduce((latest, point) => (point.x > latest.x ? point : latest));
  const atMs = Math.max(nowMs, last.x + last.y / -bytesPerMs);
  if (atMs - nowMs > FARTHEST_MS) return { kind: "steady" };
  return { kind: "full", atMs, bytesPerDay: -bytesPerMs * 24 * HOUR_MS };
}

interface Point {
  readonly x: number;
  readonly y: number;
}

function slopeOf(points: readonly Point[]): number {
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [meanX, meanY] = [mean(points.map(({ x }) => x)), mean(points.map(({ y }) => y))];
  const covariance = points.reduce((sum, { x, y }) => sum + (x - meanX) * (y - meanY), 0);
  const variance = points.reduce((sum, { x }) => sum + (x - meanX) ** 2, 0);
  return covariance / variance;
}
