import type { Plan, WholePart } from "../align/plan.ts";
import type { Episode } from "../episodes/episode.ts";
import type { MadeMessage } from "./make-episode.ts";

/** The rows of each episode of the set: the values of each feature. */
type SlowPieces = Record<string, number[]>[][];

/**
 * Aligns an episode as the design says it, with whole numbers of nanoseconds, by a search through all messages for each row. The value of a
 * message is a list of numbers.
 */
export function alignSlowly(
  { mapping, features }: Mapped,
  episode: Episode,
  messages: readonly MadeMessage[],
): SlowPieces | "gap" {
  const gapNs = BigInt(Math.round(mapping.maxGapMs * 1e6));
  const offsetOf = (part: Part) => BigInt(Math.round(part.offsetMs * 1e6));
  const stampsOf = (part: Part) =>
    messages
      .filter(({ topic }) => topic === part.topic)
      .map(({ atNs, value }) => ({ atNs: atNs + offsetOf(part), value: value as number[] }))
      .sort((a, b) => Number(a.atNs - b.atNs));
  const parts = features.flatMap((feature) => feature.parts.map(({ part }) => part));
  const reach = gapNs + parts.reduce((most, part) => max(most, max(offsetOf(part), -offsetOf(part))), 0n);
  const near = (part: Part) =>
    stampsOf(part).filter(({ atNs }) => {
      const logNs = atNs - offsetOf(part);
      return logNs >= episode.startNs - reach && logNs <= episode.endNs + reach;
    });
  if (parts.some((part) => near(part).length === 0)) return [];
  const first = parts.reduce((latest, part) => max(latest, near(part)[0]!.atNs), episode.startNs);
  const ends = parts.map((part) => near(part).at(-1)!.atNs + (part.align === "hold" ? gapNs : 0n));
  const last = -ends.reduce((latest, end) => max(latest, -end), -episode.endNs);
  const rows: (Record<string, number[]> | undefined)[] = [];
  for (let k = 0n; first + (k * 1_000_000_000n) / BigInt(mapping.fps) <= last; k += 1n) {
    const at = first + (k * 1_000_000_000n) / BigInt(mapping.fps);
    const values = features.map(({ name, parts: own }) => {
      const found = own.map(({ part }) => valueAt(near(part), { align: part.align, at, gapNs }));
      return [name, found.includes(undefined) ? undefined : found.flat()] as const;
    });
    const isFull = values.every(([, value]) => value !== undefined);
    rows.push(isFull ? (Object.fromEntries(values) as Record<string, number[]>) : undefined);
  }
  return cut({ mapping, features }, rows);
}

type Part = WholePart;
type Mapped = Pick<Plan, "mapping" | "features">;

function max(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}

interface Stamped {
  readonly atNs: bigint;
  readonly value: number[];
}

interface Wanted {
  readonly align: Part["align"];
  readonly at: bigint;
  readonly gapNs: bigint;
}

function valueAt(all: readonly Stamped[], { align, at, gapNs }: Wanted): number[] | undefined {
  const before = all.filter(({ atNs }) => atNs <= at).at(-1);
  const next = all.find(({ atNs }) => atNs > at);
  const after = next && all.findLast(({ atNs }) => atNs === next.atNs);
  if (align === "hold") return before && at - before.atNs <= gapNs ? before.value : undefined;
  if (align === "nearest") {
    const near = [before, after].filter((one) => one !== undefined && abs(one.atNs - at) <= gapNs) as Stamped[];
    return near.sort((a, b) => Number(abs(a.atNs - at) - abs(b.atNs - at)))[0]?.value;
  }
  if (before?.atNs === at) return before.value;
  if (!before || !after || after.atNs - before.atNs > gapNs) return undefined;
  const share = Number(at - before.atNs) / Number(after.atNs - before.atNs);
  return before.value.map((value, place) => value + (after.value[place]! - value) * share);
}

function abs(value: bigint): bigint {
  return value < 0n ? -value : value;
}

function cut(
  { mapping, features }: Mapped,
  rows: readonly (Record<string, number[]> | undefined)[],
): SlowPieces | "gap" {
  const runs: Record<string, number[]>[][] = [];
  for (const [row, values] of rows.entries()) {
    if (values === undefined) continue;
    if (row === 0 || rows[row - 1] === undefined) runs.push([]);
    runs.at(-1)!.push(values);
  }
  if (runs.length > 1 && mapping.onGap === "fail") return "gap";
  if (runs.length > 1 && mapping.onGap === "dropEpisode") return [];
  const most = Math.max(...features.map(({ shiftRows }) => shiftRows));
  return runs
    .map((run) =>
      run.slice(0, Math.max(0, run.length - most)).map((_, row) => {
        return Object.fromEntries(features.map(({ name, shiftRows }) => [name, run[row + shiftRows]![name]!]));
      }),
    )
    .filter((run) => run.length >= mapping.minFrames);
}
