import { FIRST_TIME_NS, LAST_TIME_NS } from "@downlink/protocol";

const NS_PER_MS = 1_000_000n;
/** Below it a pixel would be finer than the times of most clocks. */
export const MIN_SPAN_MS = 1;
export const MAX_SPAN_MS = 100 * 365 * 86_400_000;

/**
 * The part of time that the lanes show. Milliseconds are counted from an origin near to it, so that a number holds them to the nanosecond;
 * only addresses and calls see `bigint`.
 */
export interface View {
  readonly originNs: bigint;
  readonly fromMs: number;
  readonly spanMs: number;
}

export interface Span {
  readonly startNs: bigint;
  readonly endNs: bigint;
}

export function toView({ startNs, endNs }: Span): View {
  return clamp({ originNs: startNs, fromMs: 0, spanMs: msBetween(startNs, endNs) });
}

export function toSpan(view: View): Span {
  return { startNs: toNs(view, view.fromMs), endNs: toNs(view, view.fromMs + view.spanMs) };
}

/** Returns the moment of a time that is counted from the origin. */
export function toNs({ originNs }: Pick<View, "originNs">, ms: number): bigint {
  const whole = Math.floor(ms);
  const timeNs = originNs + BigInt(whole) * NS_PER_MS + BigInt(Math.round((ms - whole) * 1e6));
  if (timeNs < FIRST_TIME_NS) return FIRST_TIME_NS;
  return timeNs > LAST_TIME_NS ? LAST_TIME_NS : timeNs;
}

/** Counts from the origin. The difference is taken before it becomes a number, which would lose its last digits. */
export function fromNs({ originNs }: Pick<View, "originNs">, timeNs: bigint): number {
  return msBetween(originNs, timeNs);
}

/** Returns the time at a share of the width: 0 is the left end, 1 the right one. */
export function msAt({ fromMs, spanMs }: View, share: number): number {
  return fromMs + spanMs * share;
}

export function shareOf({ fromMs, spanMs }: View, ms: number): number {
  return (ms - fromMs) / spanMs;
}

/** Shows `factor` times as much time. The time at `share` of the width stays there. */
export function zoomAbout(view: View, factor: number, share: number): View {
  const spanMs = Math.min(Math.max(view.spanMs * factor, MIN_SPAN_MS), MAX_SPAN_MS);
  return clamp({ ...view, spanMs, fromMs: msAt(view, share) - spanMs * share });
}

/** Moves by a share of the width; a positive one to later times. */
export function panBy(view: View, share: number): View {
  return clamp({ ...view, fromMs: view.fromMs + view.spanMs * share });
}

/** Moves as little as needed to show the time with some room around it. */
export function reveal(view: View, ms: number): View {
  const share = shareOf(view, ms);
  if (share >= 0 && share <= 1) return view;
  return panBy(view, share < 0 ? share - ROOM : share - 1 + ROOM);
}

const ROOM = 0.1;

function clamp(view: View): View {
  const spanMs = Math.min(Math.max(view.spanMs, MIN_SPAN_MS), MAX_SPAN_MS);
  const first = fromNs(view, FIRST_TIME_NS);
  const last = fromNs(view, LAST_TIME_NS) - spanMs;
  return { ...view, spanMs, fromMs: Math.min(Math.max(view.fromMs, first), last) };
}

function msBetween(startNs: bigint, endNs: bigint): number {
  const ns = endNs - startNs;
  return Number(ns / NS_PER_MS) + Number(ns % NS_PER_MS) / 1e6;
}

const STEPS_NS = [1, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 6e10, 6e11, 3.6e12, 2.16e13, 8.64e13].map(
  BigInt,
);

/** Rounds to the largest usual step that is no wider than a pixel, so that what is drawn by hand has times that can be read. */
export function snapNs(timeNs: bigint, pixelMs: number): bigint {
  const stepNs = STEPS_NS.findLast((step) => Number(step) <= pixelMs * 1e6) ?? 1n;
  const rest = ((timeNs % stepNs) + stepNs) % stepNs;
  return rest * 2n < stepNs ? timeNs - rest : timeNs - rest + stepNs;
}
