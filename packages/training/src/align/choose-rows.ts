import { TrainingError } from "../episodes/episode.ts";
import type { Collected } from "./collect-series.ts";
import type { Plan } from "./plan.ts";

/** The rows that an episode could have. */
export interface Rows {
  /** The time of each row, in nanoseconds after the episode's start. */
  readonly atNs: Float64Array;
  /** Whether there is a gap in the clock before a row. */
  readonly breaks: Uint8Array;
}

const SECOND_NS = 1_000_000_000;
/** The most rows of one episode times the parts of all features: 320 MB. */
const MAX_MATCHES = 20_000_000;

/** Lays the rows where every part has begun and none has ended. Throws {@link TrainingError} for a clock of another rate. */
export function chooseRows(plan: Plan, { series }: Collected, durationNs: number): Rows {
  let [first, last] = [0, durationNs];
  for (const planned of plan.parts) {
    const { atNs } = series.get(planned)!;
    first = Math.max(first, atNs[0] ?? Number.POSITIVE_INFINITY);
    last = Math.min(
      last,
      (atNs.at(-1) ?? Number.NEGATIVE_INFINITY) + (planned.part.align === "hold" ? plan.maxGapNs : 0),
    );
  }
  if (!plan.clock) return layGrid(plan, { first, last });
  const clockNs = series.get(plan.clock)!.atNs;
  requireFew(plan, clockNs.length);
  return followClock(plan, clockNs, { first, last });
}

function requireFew({ parts }: Plan, count: number): void {
  if (count * parts.length <= MAX_MATCHES) return;
  const rows = `an episode would have ${count} rows of ${parts.length} parts`;
  throw new TrainingError(`${rows}, and ${MAX_MATCHES} values are read`);
}

interface Span {
  readonly first: number;
  readonly last: number;
}

/** Each row is computed for itself, so that no error adds up. */
function layGrid(plan: Plan, { first, last }: Span): Rows {
  const { fps } = plan.mapping;
  const count = last < first ? 0 : Math.floor(((last - first) / SECOND_NS) * fps) + 2;
  requireFew(plan, count);
  const all = Float64Array.from({ length: count }, (_, k) => first + stepNs(k, fps));
  const atNs = all.filter((at) => at <= last);
  return { atNs, breaks: new Uint8Array(atNs.length) };
}

/** Numbers are exact for the first 100 days. */
function stepNs(k: number, fps: number): number {
  return Math.floor(k / fps) * SECOND_NS + Math.floor(((k % fps) * SECOND_NS) / fps);
}

function followClock({ mapping }: Plan, clockNs: Float64Array, { first, last }: Span): Rows {
  const atNs = clockNs.filter((at) => first <= at && at <= last);
  const periodNs = SECOND_NS / mapping.fps;
  const steps = atNs.map((at, row) => (row === 0 ? periodNs : at - atNs[row - 1]!));
  const breaks = Uint8Array.from(steps, (step) => (step < 0.5 * periodNs || step > 1.5 * periodNs ? 1 : 0));
  const even = steps.filter((_, row) => row > 0 && breaks[row] === 0);
  const mean = even.reduce((sum, step) => sum + step, 0) / even.length;
  if (Math.abs(mean - periodNs) > 0.01 * periodNs)
    throw new TrainingError(
      `the clock has ${(SECOND_NS / mean).toFixed(2)} messages a second, and fps is ${mapping.fps}: it may differ by 1 %`,
    );
  return { atNs, breaks };
}
