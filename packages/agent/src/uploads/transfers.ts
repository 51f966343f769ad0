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
  /** Adds bytes that the cloud has just acknowledged. */
  add(bytes: number): void;
  /** Notes bytes that were handed to the connection. They count for the rate only while nothing is acknowledged. */
  flow(bytes: number): void;
  /** Adds bytes that were there already: progress, but no rate. It is negative when they turn out to be missing. */
  skip(bytes: number): void;
  snapshot(): Transfer;
}

/** The rate is measured over this time at least, so that rare acknowledgements give a steady rate as well. */
const WINDOW_MS = 30_000;
/** In a shorter time, acknowledgements say nothing about a rate. */
const LEAST_MS = 500;

const SAMPLE_MS = 1000;

/**
 * Measures an upload by what is durable. Before the first acknowledgement within the window, the rate is that of the bytes handed to the
 * connection, because a large part takes minutes on a slow link. It begins too high, by what the kernel buffers.
 */
export function createTransferMeter(
  file: Pick<Transfer, "recordingId" | "path" | "sizeBytes">,
  clock: Clock,
): TransferMeter {
  /** The rate is counted from the first mark on. */
  const marks: { readonly atMs: number; readonly bytes: number }[] = [{ atMs: clock.monotonicMs(), bytes: 0 }];
  const flows: { readonly atMs: number; bytes: number }[] = [];
  let sentBytes = 0;
  const forgetOld = (nowMs: number) => {
    while (marks[1] && marks[1].atMs <= nowMs - WINDOW_MS) marks.shift();
    while (flows[0] && flows[0].atMs <= nowMs - WINDOW_MS) flows.shift();
  };
  return {
    add(bytes) {
      const atMs = clock.monotonicMs();
      sentBytes += bytes;
      forgetOld(atMs);
      marks.push({ atMs, bytes });
    },
    flow(bytes) {
      const atMs = clock.monotonicMs();
      const last = flows.at(-1);
      if (last && atMs - last.atMs < SAMPLE_MS) last.bytes += bytes;
      else flows.push({ atMs, bytes });
    },
    skip(bytes) {
      sentBytes += bytes;
    },
    snapshot() {
      const nowMs = clock.monotonicMs();
      forgetOld(nowMs);
      const [from, ...acknowledged] = marks;
      const isFlowing = acknowledged.length === 0 && flows.length > 0;
      const sinceMs = isFlowing ? Math.max(from!.atMs, nowMs - WINDOW_MS) : from!.atMs;
      const seconds = Math.max(LEAST_MS, nowMs - sinceMs) / 1000;
      const moved = isFlowing ? flows : acknowledged;
      const bytesPerSecond = Math.round(moved.reduce((sum, { bytes }) => sum + bytes, 0) / seconds);
      const leftBytes = file.sizeBytes - sentBytes;
      const secondsLeft = bytesPerSecond > 0 ? Math.ceil(leftBytes / bytesPerSecond) : undefined;
      return { ...file, sentBytes, bytesPerSecond, secondsLeft };
    },
  };
}
