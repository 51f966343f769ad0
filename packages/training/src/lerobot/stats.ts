/** Statistics of a feature, with a value for each of its places; of a picture for each of its three channels, from 0 to 1. */
export interface FeatureStats {
  readonly min: readonly number[];
  readonly max: readonly number[];
  readonly mean: readonly number[];
  /** The standard deviation of the population. */
  readonly std: readonly number[];
  readonly count: number;
  /** By their names in {@link quantiles}. */
  readonly q: Readonly<Record<QuantileName, readonly number[]>>;
}

export const quantiles = { q01: 0.01, q10: 0.1, q50: 0.5, q90: 0.9, q99: 0.99 } as const;
export type QuantileName = keyof typeof quantiles;
const names = Object.keys(quantiles) as QuantileName[];

function byQuantile<T>(make: (name: QuantileName) => T): Record<QuantileName, T> {
  return Object.fromEntries(names.map((name) => [name, make(name)])) as Record<QuantileName, T>;
}

/** Values that stand one after the other, `width` in each row. */
interface Values {
  readonly cells: ArrayLike<number>;
  readonly width: number;
}

export function statsOf({ cells, width }: Values): FeatureStats {
  const count = cells.length / width;
  const columns = Array.from({ length: width }, (_, column) =>
    describe(Float64Array.from({ length: count }, (_value, row) => cells[row * width + column]!)),
  );
  return gather(columns, count);
}

interface Described {
  readonly min: number;
  readonly max: number;
  readonly mean: number;
  readonly std: number;
  readonly q: Readonly<Record<QuantileName, number>>;
}

function describe(values: Float64Array): Described {
  const sorted = values.slice().sort();
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
  const q = byQuantile((name) => quantileOf(sorted, quantiles[name]));
  return { min: sorted[0]!, max: sorted.at(-1)!, mean, std: Math.sqrt(variance), q };
}

/** Between two values it is linear. */
function quantileOf(sorted: ArrayLike<number>, share: number): number {
  const place = share * (sorted.length - 1);
  const below = Math.floor(place);
  const [low, high] = [sorted[below]!, sorted[Math.min(below + 1, sorted.length - 1)]!];
  return low + (high - low) * (place - below);
}

function gather(columns: readonly Described[], count: number): FeatureStats {
  const of = (read: (column: Described) => number) => columns.map(read);
  const q = byQuantile((name) => of((column) => column.q[name]));
  return {
    ...{
      min: of(({ min }) => min),
      max: of(({ max }) => max),
      mean: of(({ mean }) => mean),
      std: of(({ std }) => std),
    },
    ...{ count, q },
  };
}

const LEVELS = 256;

/** Counts how often each value of each channel of pictures comes. */
export class PictureTally {
  readonly #counts = Array.from({ length: 3 }, () => new Float64Array(LEVELS));
  #pictures = 0;

  /** Adds the counts of a picture: 256 of red, of green and of blue. */
  add(levels: Float64Array): void {
    this.#pictures += 1;
    for (const [channel, counts] of this.#counts.entries())
      for (const level of counts.keys()) counts[level]! += levels[channel * LEVELS + level]!;
  }

  stats(): FeatureStats {
    return gather(this.#counts.map(describeLevels), this.#pictures);
  }
}

function describeLevels(counts: Float64Array): Described {
  const total = counts.reduce((sum, count) => sum + count, 0);
  const mean = counts.reduce((sum, count, level) => sum + count * level, 0) / total;
  const variance = counts.reduce((sum, count, level) => sum + count * (level - mean) ** 2, 0) / total;
  const [min, max] = [counts.findIndex((count) => count > 0), counts.findLastIndex((count) => count > 0)];
  const scale = LEVELS - 1;
  const q = byQuantile((name) => levelAt(counts, quantiles[name] * (total - 1)) / scale);
  return { min: min / scale, max: max / scale, mean: mean / scale, std: Math.sqrt(variance) / scale, q };
}

function levelAt(counts: Float64Array, place: number): number {
  const at = (whole: number) => {
    let seen = 0;
    return counts.findIndex((count) => {
      seen += count;
      return seen > whole;
    });
  };
  const [low, high] = [at(Math.floor(place)), at(Math.ceil(place))];
  return low + (high - low) * (place - Math.floor(place));
}

/** Joins the statistics of episodes as LeRobot does: quantiles are the means of theirs. source: lerobot 0.6.1, aggregate_feature_stats */
export function joinStats(all: readonly FeatureStats[]): FeatureStats {
  const count = all.reduce((sum, stats) => sum + stats.count, 0);
  const places = Array.from(all[0]!.mean.keys());
  const weigh = (read: (stats: FeatureStats, place: number) => number) =>
    places.map((place) => all.reduce((sum, stats) => sum + read(stats, place) * stats.count, 0) / count);
  const mean = weigh((stats, place) => stats.mean[place]!);
  const variance = weigh((stats, place) => stats.std[place]! ** 2 + (stats.mean[place]! - mean[place]!) ** 2);
  const q = byQuantile((name) => weigh((stats, place) => stats.q[name][place]!));
  return {
    min: places.map((place) => Math.min(...all.map(({ min }) => min[place]!))),
    max: places.map((place) => Math.max(...all.map(({ max }) => max[place]!))),
    ...{ mean, std: variance.map(Math.sqrt), count, q },
  };
}
