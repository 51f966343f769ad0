import type { PropertyInterval } from "@downlink/protocol";
import { toMs } from "../time/format-time.ts";

export interface LaneSpan {
  readonly interval: PropertyInterval;
  /** Where it begins and how long it is, as parts of the whole. */
  readonly left: number;
  readonly width: number;
}

export interface PropertyLane {
  readonly key: string;
  readonly spans: readonly LaneSpan[];
}

export interface PropertyLanes {
  readonly fromMs: number;
  readonly toMs: number;
  readonly lanes: readonly PropertyLane[];
}

/** Lays the values of each property along one axis, from the first change until now. */
export function propertyLanes(intervals: readonly PropertyInterval[], nowMs: number): PropertyLanes {
  const fromMs = Math.min(nowMs - 1, ...intervals.map(({ start }) => toMs(start)));
  const part = (ms: number) => Math.min(1, Math.max(0, (ms - fromMs) / (nowMs - fromMs)));
  const lanes = [...Map.groupBy(intervals, ({ key }) => key)].map(([key, members]) => ({
    key,
    spans: members
      .toSorted((a, b) => Number(a.start - b.start))
      .map((interval) => {
        const left = part(toMs(interval.start));
        const right = interval.end === undefined ? 1 : part(toMs(interval.end));
        return { interval, left, width: right - left };
      }),
  }));
  return { fromMs, toMs: nowMs, lanes: lanes.sort((a, b) => a.key.localeCompare(b.key)) };
}

export function valueText(value: PropertyInterval["value"]): string {
  return Array.isArray(value) ? value.join(", ") : String(value);
}
