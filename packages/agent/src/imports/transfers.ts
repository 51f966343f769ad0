import type { Clock } from "../clock.ts";

/** A running upload, to be shown. */
export interface Transfer {
  readonly path: string;
  readonly sizeBytes: number;
  /** Durable at the cloud, or handed to the network. */
  readonly sentBytes: number;
  readonly bytesPerSecond: number;
  /** Undefined while nothing moves. */
  readonly secondsLeft: number | undefined;
}

export interface TransferMeter {
  /** Bytes on their way; negative when they have to be sent again. */
  add(bytes: number): void;
  /** Bytes that were there already: progress, but no rate. */
  skip(bytes: number): void;
  snapshot(): Transfer;
}

const WINDOW_MS = 10_000;
const SAMPLE_MS = 500;

/** Measures an upload; the rate is that of the last ten seconds. */
export function createTransferMeter(file: { path: string; sizeBytes: number }, clock: Clock): TransferMeter {
  const startMs = clock.monotonicMs();
  const samples: { atMs: number; bytes: number }[] = [];
  let sentBytes = 0;
  const note = (bytes: number) => {
    const nowMs = clock.monotonicMs();
    const last = samples.at(-1);
    if (last && nowMs - last.atMs < SAMPLE_MS) last.bytes += bytes;
    else samples.push({ atMs: nowMs, bytes });
    while (samples[0] && samples[0].atMs < nowMs - WINDOW_MS) samples.shift();
  };
  return {
    add(bytes) {
      sentBytes += bytes;
      if (bytes > 0) note(bytes);
    },
    skip(bytes) {
      sentBytes += bytes;
    },
    snapshot() {
      note(0);
      const seconds = Math.max(SAMPLE_MS, Math.min(WINDOW_MS, clock.monotonicMs() - startMs)) / 1000;
      const bytesPerSecond = Math.round(samples.reduce((sum, { bytes }) => sum + bytes, 0) / seconds);
      const leftBytes = file.sizeBytes - sentBytes;
      const secondsLeft = bytesPerSecond > 0 ? Math.ceil(leftBytes / bytesPerSecond) : undefined;
      return { ...file, sentBytes, bytesPerSecond, secondsLeft };
    },
  };
}
