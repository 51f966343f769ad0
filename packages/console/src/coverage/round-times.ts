import { formatSecond, offsetMs, toMs, type ZoneName } from "../time/format-time.ts";

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const STEPS_MS = [
  ...[1, 5, 10, 30].map((count) => count * SECOND_MS),
  ...[1, 5, 10, 15, 30].map((count) => count * MINUTE_MS),
  ...[1, 3, 6, 12].map((count) => count * HOUR_MS),
  ...[1, 7, 30].map((count) => count * DAY_MS),
];

/** Returns how exact a time can be said that is known to so many milliseconds: a round number that is no smaller. */
export function roundStep(accuracyMs: number): number {
  return STEPS_MS.find((step) => step >= accuracyMs) ?? STEPS_MS.at(-1)!;
}

interface Rounding {
  readonly stepMs: number;
  readonly zone: ZoneName;
  /** A start is rounded down, and an end up: what is there lies between them. */
  readonly up: boolean;
}

/** Writes a time to a step of the zone's clock, without digits that it does not have: `2026-04-14 03:00`. */
export function formatRounded(timeNs: bigint, { stepMs, zone, up }: Rounding): string {
  const ms = toMs(timeNs);
  const offset = offsetMs(ms, zone);
  const steps = (ms + offset) / stepMs;
  const rounded = (up ? Math.ceil(steps) : Math.floor(steps)) * stepMs - offset;
  const text = formatSecond(BigInt(rounded) * 1_000_000n, zone);
  if (stepMs >= DAY_MS) return text.slice(0, 10);
  return stepMs >= MINUTE_MS ? text.slice(0, 16) : text;
}
