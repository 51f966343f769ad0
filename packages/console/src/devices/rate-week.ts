import { parseUploadRate, uploadRateAt } from "@downlink/protocol/upload-rate";
import { formatBytes } from "../parts/bytes.ts";

export interface RateSpan {
  readonly fromMinute: number;
  readonly toMinute: number;
  readonly bytesPerSecond: number;
}

export interface RateDay {
  readonly name: string;
  readonly spans: readonly RateSpan[];
}

export type RateWeek = { readonly days: readonly RateDay[] } | { readonly problem: string };

const DAY_MINUTES = 1440;
const NAMES = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
/** A Monday in a week in which no clock is changed. */
const MONDAY = { year: 2026, month: 0, day: 5 } as const;

/** Draws the rates of a week, Monday first, or says what is wrong with the text. */
export function rateWeek(text: string): RateWeek {
  try {
    const rules = parseUploadRate(text);
    const rateAt = (day: number, minute: number) =>
      uploadRateAt(rules, new Date(MONDAY.year, MONDAY.month, MONDAY.day + day, 0, minute).getTime());
    return { days: NAMES.map((name, day) => ({ name, spans: spansOf((minute) => rateAt(day, minute)) })) };
  } catch (error) {
    if (error instanceof RangeError) return { problem: error.message };
    throw error;
  }
}

function spansOf(rateAt: (minute: number) => number): RateSpan[] {
  const spans: { fromMinute: number; toMinute: number; bytesPerSecond: number }[] = [];
  for (let minute = 0; minute < DAY_MINUTES; minute++) {
    const bytesPerSecond = rateAt(minute);
    const last = spans.at(-1);
    if (last?.bytesPerSecond === bytesPerSecond) last.toMinute = minute + 1;
    else spans.push({ fromMinute: minute, toMinute: minute + 1, bytesPerSecond });
  }
  return spans;
}

export function rateText(bytesPerSecond: number): string {
  if (bytesPerSecond === 0) return "off";
  return bytesPerSecond === Number.POSITIVE_INFINITY ? "unlimited" : `${formatBytes(bytesPerSecond)}/s`;
}

/** Formats a span as `08:00–18:00 1.0 MB/s`. */
export function spanText({ fromMinute, toMinute, bytesPerSecond }: RateSpan): string {
  return `${clock(fromMinute)}–${clock(toMinute)} ${rateText(bytesPerSecond)}`;
}

function clock(minute: number): string {
  return `${String(Math.floor(minute / 60)).padStart(2, "0")}:${String(minute % 60).padStart(2, "0")}`;
}

/**
 * Returns how high a rate is drawn: nothing for off, all for unlimited, and between them by its order of magnitude, as rates differ by
 * thousands. Its text stands in the lower half, which no line crosses.
 */
export function rateLevel(bytesPerSecond: number): number {
  if (bytesPerSecond === 0) return 0;
  if (bytesPerSecond === Number.POSITIVE_INFINITY) return 1;
  return Math.min(0.9, 0.55 + (Math.max(0, Math.log10(bytesPerSecond / 1000)) / 6) * 0.35);
}
