/** How many bytes of a file were sent at a moment, in milliseconds. */
export interface Sample {
  readonly atMs: number;
  readonly bytes: number;
}

/** The rate is that of the last seconds. */
const WINDOW_MS = 8000;
/** A shorter time says nothing about the rate. */
const LEAST_MS = 1000;

/** Returns the samples with a newer one, without those that are too old. After bytes that have to be sent again it begins afresh. */
export function addSample(samples: readonly Sample[], sample: Sample): readonly Sample[] {
  if (sample.bytes < (samples.at(-1)?.bytes ?? 0)) return [sample];
  return [...samples.filter(({ atMs }) => sample.atMs - atMs <= WINDOW_MS), sample];
}

/** Returns the bytes per second, once enough is known. */
export function rateOf(samples: readonly Sample[]): number | undefined {
  const [first, last] = [samples[0], samples.at(-1)];
  if (!first || !last || last.atMs - first.atMs < LEAST_MS || last.bytes === first.bytes) return undefined;
  return ((last.bytes - first.bytes) * 1000) / (last.atMs - first.atMs);
}
