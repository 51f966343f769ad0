import { type ReadonlySignal, useComputed } from "@preact/signals";
import type { ZoneName } from "../time/format-time.ts";
import { toMs } from "../time/format-time.ts";
import { ticksOf } from "../time/ticks.ts";
import { shareOf, toNs, type View } from "./view.ts";

interface AxisProps {
  readonly view: ReadonlySignal<View>;
  readonly zone: ZoneName;
  /** How many marks have room. */
  readonly most: number;
}

/** Marks at round times above the lanes. */
export function Axis(props: AxisProps) {
  return (
    <div class="axis" aria-hidden="true">
      {placeTicks(props).map(({ ms, text, isMajor, left }) => (
        <span key={ms} class={isMajor ? "tick major" : "tick"} style={{ left }}>
          {text}
        </span>
      ))}
    </div>
  );
}

/** Lines through the lanes at the same times. */
export function TickLines(props: AxisProps) {
  return (
    <div class="tick-lines" aria-hidden="true">
      {placeTicks(props).map(({ ms, left }) => (
        <i key={ms} style={{ left }} />
      ))}
    </div>
  );
}

function placeTicks({ view, zone, most }: AxisProps) {
  const { originNs, fromMs, spanMs } = view.value;
  const originMs = toMs(originNs);
  const startMs = toMs(toNs({ originNs }, fromMs));
  const ticks = ticksOf({ fromMs: startMs, toMs: startMs + spanMs, most, zone });
  return ticks.map((tick) => ({ ...tick, left: `${shareOf(view.value, tick.ms - originMs) * 100}%` }));
}

interface NowProps {
  readonly view: ReadonlySignal<View>;
  readonly nowMs: number;
}

/** Marks the present, so that no user looks for data of tomorrow. */
export function NowLine({ view, nowMs }: NowProps) {
  const left = useComputed(() => {
    const share = shareOf(view.value, nowMs - toMs(view.value.originNs));
    return share >= 0 && share <= 1 ? `${share * 100}%` : undefined;
  });
  return left.value === undefined ? null : <div class="now-line" style={{ left: left.value }} title="Now" />;
}
