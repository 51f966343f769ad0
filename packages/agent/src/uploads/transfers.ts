import type { Clock } from "../system/clock.ts";

/** A running upload, to be shown. */
export interface Transfer {
  /** The id under which the control plane knows the file. */
  readonly recordingId: string;
  readonly path: string;
  readonly sizeBytes: number;
  /** Bytes that are durable in the cloud. */
  readonly sentBytes: number;
  readonly bytesPerSecond: number;
  /** Undefined while nothing moves. */
  readonly secondsLeft: number | undefined;
}

export interface TransferMeter {
  /** Adds bytes that the cloud has just acknowledged. What the kernel buffered does not count. */
  add(bytes: number): void;
  /** Adds bytes that were there already: progress, but no rate. It is negative when they turn out to be missing. */
  skip(bytes: number): void;
  snapshot(): Transfer;
}

/** The rate is measured over this time at least, so that rare acknowledgements give a steady rate as well. */
const WINDOW_MS = 30_000;
/** In a shorter time, acknowledgements say nothing about a rate. */
const LEAST_MS = 500;

/** Measures an upload by what is durable. */
export function createTransferMeter(
  file: Pick<Transfer, "recordingId" | "path" | "sizeBytes">,
  clock: Clock,
): TransferMeter {
  /** The rate is counted from the first mark on. */
  const marks: { readonly atMs: number; readonly bytes: number }[] = [{ atMs: clock.monotonicMs(), bytes: 0 }];
  let sentBytes = 0;
  const forgetOld = (nowMs: number) => {
    while (marks[1] && marks[1].atMs <= nowMs - WINDOW_MS) marks.shift();
  };
  return {
    add(bytes) {
      const atMs = clock.monotonicMs();
      sentBytes += bytes;
      forgetOld(atMs);
      marks.push({ atMs, bytes });
    },
    skip(bytes) {
      sentBytes += bytes;
    },
    snapshot() {
      const nowMs = clock.monotonicMs();
      forgetOld(nowMs);
      const [from, ...later] = marks;
      const seconds = Math.max(LEAST_MS, nowMs - from!.atMs) / 1000;
      const bytesPerSecond = Math.round(later.reduce((sum, { bytes }) => sum + bytes, 0) / seconds);
      const leftBytes = file.sizeBytes - sentBytes;
      const secondsLeft = bytesPerSecond > 0 ? Math.ceil(leftBytes / bytesPerSecond) : undefined;
      return { ...file, sentBytes, bytesPerSecond, secondsLeft };
    },
  };
}
