import type { Clock } from "../system/clock.ts";

/** Says when the disk will be full if it fills as in the last hour. */
export interface DiskForecast {
  note(freeBytes: number): void;
  /** Undefined while too little is known, or space is not getting less. */
  secondsUntilFull(): number | undefined;
}

const WINDOW_MS = 3_600_000;
const SAMPLE_MS = 60_000;
/** In a shorter time, one file would look like a trend. */
const SHORTEST_MS = 10 * 60_000;

export function createDiskForecast(clock: Clock): DiskForecast {
  const samples: { readonly atMs: number; readonly freeBytes: number }[] = [];
  return {
    note(freeBytes) {
      const atMs = clock.monotonicMs();
      if (samples.length > 0 && atMs - samples.at(-1)!.atMs < SAMPLE_MS) return;
      samples.push({ atMs, freeBytes });
      while (samples[0]!.atMs < atMs - WINDOW_MS) samples.shift();
    },
    secondsUntilFull() {
      const [first, last] = [samples[0], samples.at(-1)];
      if (!first || !last || last.atMs - first.atMs < SHORTEST_MS) return undefined;
      const bytesPerMs = (first.freeBytes - last.freeBytes) / (last.atMs - first.atMs);
      return bytesPerMs > 0 ? Math.round(last.freeBytes / bytesPerMs / 1000) : undefined;
    },
  };
}
