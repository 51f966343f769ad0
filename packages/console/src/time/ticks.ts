import { offsetMs, partsOf, type ZoneName } from "./format-time.ts";

export interface Tick {
  readonly ms: number;
  readonly text: string;
  /** A new day, month or year begins, which the text names. */
  readonly isMajor: boolean;
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const STEPS_MS = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500],
  ...[1, 2, 5, 10, 15, 30].map((count) => count * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((count) => count * MINUTE),
  ...[1, 2, 3, 6, 12].map((count) => count * HOUR),
  ...[1, 2, 7, 14].map((count) => count * DAY),
];
const MONTH_STEPS = [1, 3, 6, 12, 24, 60, 120, 240];
const MONTH_MS = 30.44 * DAY;
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

interface Axis {
  /** Milliseconds since 1970. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly most: number;
  readonly zone: ZoneName;
}

/** Marks at round times of the zone, at most so many. */
export function ticksOf({ fromMs, toMs, most, zone }: Axis): Tick[] {
  const atLeastMs = (toMs - fromMs) / Math.max(1, most);
  const stepMs = STEPS_MS.find((step) => step >= atLeastMs);
  if (stepMs === undefined) return monthTicks({ fromMs, toMs, zone, most });
  const first = alignedBefore(fromMs, stepMs, zone);
  const ticks: Tick[] = [];
  for (let ms = first; ms <= toMs; ms = nextTick(ms, stepMs, zone))
    if (ms >= fromMs) ticks.push(tickAt(ms, stepMs, zone));
  return ticks;
}

/** Rounds down to a whole number of steps since the zone's midnight; longer steps count from 1970. */
function alignedBefore(ms: number, stepMs: number, zone: ZoneName): number {
  const offset = offsetMs(ms, zone);
  return Math.floor((ms + offset) / stepMs) * stepMs - offset;
}

/** Returns the next mark; where the zone's clocks change in between, it stays at the same time of the clock. */
function nextTick(ms: number, stepMs: number, zone: ZoneName): number {
  const next = ms + stepMs;
  if (stepMs < HOUR) return next;
  const changed = offsetMs(ms, zone) - offsetMs(next, zone);
  return changed === 0 || stepMs + changed <= 0 ? next : next + changed;
}

function tickAt(ms: number, stepMs: number, zone: ZoneName): Tick {
  const { month, day, hour, minute, second } = partsOf(ms, zone);
  const date = `${Number(day)} ${MONTHS[Number(month) - 1]}`;
  const isMidnight = `${hour}${minute}${second}` === "000000" && ms % SECOND === 0;
  if (stepMs >= DAY || isMidnight) return { ms, text: date, isMajor: Number(day) === 1 || stepMs < DAY };
  if (stepMs >= MINUTE) return { ms, text: `${hour}:${minute}`, isMajor: false };
  const clock = `${hour}:${minute}:${second}`;
  const rest = String(((ms % SECOND) + SECOND) % SECOND).padStart(3, "0");
  return { ms, text: stepMs >= SECOND ? clock : `${clock}.${rest}`, isMajor: false };
}

function monthTicks({ fromMs, toMs, zone, most }: Axis): Tick[] {
  const atLeast = (toMs - fromMs) / MONTH_MS / Math.max(1, most);
  const step = MONTH_STEPS.find((months) => months >= atLeast) ?? MONTH_STEPS.at(-1)!;
  const { year, month } = partsOf(fromMs, zone);
  const first = Math.floor((Number(year) * 12 + Number(month) - 1) / step) * step;
  const ticks: Tick[] = [];
  for (let count = first; ; count += step) {
    const ms = monthStart(count, zone);
    if (ms > toMs) return ticks;
    const isYear = count % 12 === 0;
    if (ms >= fromMs) ticks.push({ ms, text: isYear ? String(count / 12) : MONTHS[count % 12]!, isMajor: isYear });
  }
}

function monthStart(count: number, zone: ZoneName): number {
  const utcMs = Date.UTC(Math.floor(count / 12), count % 12, 1);
  return utcMs - offsetMs(utcMs, zone);
}
