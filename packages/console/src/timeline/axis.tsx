import { type ReadonlySignal, useComputed } from "@preact/signals";
import type { ZoneName } from "../time/format-time.ts";
import { toMs } from "../time/format-time.ts";
import { ticksOf } from "../time/ticks.ts";
import { shareOf, toNs, type View } from "./view.ts";

interface AxisProps {
  readonly view: ReadonlySignal<View>;
  readonly zone: ZoneName;
  /** The width of the lanes in pixels; 0 where it is not known yet. */
  readonly widthPx: number;
}

/** The room for a mark with its text, such as 12:30:45. */
const MARK_PX = 64;
/** The width of a letter of the text, and what stands before it. */
const LETTER_PX = 7;
const BEFORE_PX = 6;

/** Marks at round times above the lanes. */
export function Axis(props: AxisProps) {
  return (
    <div class="axis" aria-hidden="true">
      {placeTicks(props).map(({ ms, text, isMajor, left, hasRoom }) => (
        <span key={ms} class={isMajor ? "tick major" : "tick"} style={{ left }}>
          {hasRoom ? text : ""}
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

function placeTicks({ view, zone, widthPx }: AxisProps) {
  const most = Math.max(2, Math.min(12, Math.floor(widthPx / MARK_PX)));
  const { originNs, fromMs, spanMs } = view.value;
  const originMs = toMs(originNs);
  const startMs = toMs(toNs({ originNs }, fromMs));
  const ticks = ticksOf({ fromMs: startMs, toMs: startMs + spanMs, most, zone });
  return ticks.map((tick) => {
    const share = shareOf(view.value, tick.ms - originMs);
    const hasRoom = share * widthPx + BEFORE_PX + tick.text.length * LETTER_PX <= widthPx;
    return { ...tick, left: `${share * 100}%`, hasRoom };
  });
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
