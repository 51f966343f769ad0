import { previewLimits } from "./limits.ts";

/** Which part of a recording is shown. */
export interface PreviewChoice {
  readonly topics: readonly string[];
  readonly startNs: bigint;
  readonly endNs: bigint;
  /** As `formatLine` writes them. */
  readonly lines: readonly string[];
}

export interface Span {
  readonly startNs: bigint;
  readonly endNs: bigint;
}

const FIRST_NS = BigInt(previewLimits.windowNs);
/** Each step of widening shows so many times as much. */
const WIDER = 6n;

/** Returns the window that is shown first: it begins with the first message of what was chosen. */
export function firstWindow(recording: Span, firstMessageNs: bigint | undefined): Span {
  const startNs = clamp(firstMessageNs ?? recording.startNs, recording);
  return { startNs, endNs: least(recording.endNs, startNs + FIRST_NS) };
}

export function widen({ startNs, endNs }: Span, recording: Span): Span {
  const length = (endNs - startNs || FIRST_NS) * WIDER;
  const from = most(recording.startNs, least(startNs, recording.endNs - length));
  return { startNs: from, endNs: least(recording.endNs, from + length) };
}

/** Moves by its own length, and stays within the recording. */
export function move({ startNs, endNs }: Span, recording: Span, times: bigint): Span {
  const length = endNs - startNs;
  const from = most(recording.startNs, least(startNs + times * length, recording.endNs - length));
  return { startNs: from, endNs: from + length };
}

/** Moves so that a time is in its middle, as far as it stays within the recording. */
export function moveTo({ startNs, endNs }: Span, recording: Span, middleNs: bigint): Span {
  const length = endNs - startNs;
  const from = most(recording.startNs, least(middleNs - length / 2n, recording.endNs - length));
  return { startNs: from, endNs: from + length };
}

/** Returns the time itself, or the end of the span that is nearer. */
export function clamp(timeNs: bigint, { startNs, endNs }: Span): bigint {
  return most(startNs, least(endNs, timeNs));
}

function least(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

function most(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
