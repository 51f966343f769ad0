import type { Episode } from "../episodes/episode.ts";
import { chooseRows, type Rows } from "./choose-rows.ts";
import { type Collected, collectSeries, type Series } from "./collect-series.ts";
import { type Match, matchRows } from "./match-rows.ts";
import type { Plan, PlannedPart } from "./plan.ts";

/** Rows of an episode that follow each other without a gap: an episode of the training set. */
export interface Piece {
  readonly firstRow: number;
  readonly rowCount: number;
}

/** A run of rows inside an episode that have no value for some part. */
export interface Gap {
  readonly feature: string;
  readonly topic: string;
  readonly firstRow: number;
  readonly rowCount: number;
}

/** An episode whose rows are known, before their values are read. */
export interface AlignedEpisode {
  readonly episode: Episode;
  readonly collected: Collected;
  readonly rows: Rows;
  readonly matches: ReadonlyMap<PlannedPart, Match>;
  /** Empty: it becomes no episode of the set. */
  readonly pieces: readonly Piece[];
  readonly gaps: readonly Gap[];
  /** How often its rows break off inside: where they have no value, or the clock jumps. */
  readonly breakCount: number;
  /** Rows at its edges that are left out. */
  readonly trimmedStart: number;
  readonly trimmedEnd: number;
  /** Why there is no piece, or fewer than there could be. */
  readonly leftOut: string | undefined;
}

/** Reads an episode once, and says which rows it has. Throws {@link TrainingError} for data that does not fit the mapping. */
export async function alignEpisode(plan: Plan, episode: Episode): Promise<AlignedEpisode> {
  const collected = await collectSeries(plan, episode);
  const rows = chooseRows(plan, collected, Number(episode.endNs - episode.startNs));
  const matches = new Map(
    plan.parts.map((part) => [
      part,
      matchRows({ ...part, maxGapNs: plan.maxGapNs }, collected.series.get(part)!, rows.atNs),
    ]),
  );
  return { episode, collected, rows, matches, ...cutPieces(plan, { collected, rows, matches }) };
}

type Cut = Pick<AlignedEpisode, "pieces" | "gaps" | "breakCount" | "trimmedStart" | "trimmedEnd" | "leftOut">;
type Found = Pick<AlignedEpisode, "collected" | "rows" | "matches">;

function cutPieces(plan: Plan, { collected, rows, matches }: Found): Cut {
  const count = rows.atNs.length;
  const none = { pieces: [], gaps: [], breakCount: 0, trimmedStart: 0, trimmedEnd: 0 };
  const silent = plan.parts.find((part) => collected.series.get(part)!.atNs.length === 0);
  if (silent) return { ...none, leftOut: explainSilence(silent, collected.series.get(silent)!) };
  const isFull = (row: number) => plan.parts.every((part) => matches.get(part)!.from[row]! >= 0);
  const runs = findRuns(count, isFull, (row) => rows.breaks[row] === 1);
  const [first, last] = [runs[0], runs.at(-1)];
  if (!first || !last) return { ...none, leftOut: "no row has a value of every feature" };
  const trimmed = { trimmedStart: first.firstRow, trimmedEnd: count - last.firstRow - last.rowCount };
  const gaps = runs.length === 1 ? [] : findGaps(plan, matches, { from: first.firstRow, to: last.firstRow });
  const breakCount = runs.length - 1;
  const { onGap, minFrames } = plan.mapping;
  if (breakCount > 0 && onGap !== "splitEpisode")
    return { ...none, ...trimmed, gaps, breakCount, leftOut: `it has ${breakCount} gaps inside` };
  const shifted = runs.map((run) => ({ ...run, rowCount: run.rowCount - plan.maxShift }));
  const pieces = shifted.filter(({ rowCount }) => rowCount >= minFrames);
  const short = shifted.length - pieces.length;
  const leftOut = short === 0 ? undefined : `${short} of its ${shifted.length} parts have fewer than ${minFrames} rows`;
  return { pieces, gaps, breakCount, ...trimmed, leftOut };
}

function explainSilence({ part, feature, isClock }: PlannedPart, { facts }: Series): string {
  const of = isClock ? "the clock" : feature;
  if (facts.unusable === 0) return `it has no message of ${part.topic} for ${of}`;
  return `no message of ${part.topic} has a value for ${of}: the first ${facts.reason}`;
}

/** Finds the longest runs of rows that are in; one ends before a row that is cut from the one before. */
function findRuns(
  count: number,
  isIn: (row: number) => boolean,
  isCut: (row: number) => boolean = () => false,
): Piece[] {
  const runs: { firstRow: number; rowCount: number }[] = [];
  let open: { rowCount: number } | undefined;
  for (let row = 0; row < count; row += 1) {
    const wasOpen = open;
    open = isIn(row) ? ((isCut(row) ? undefined : wasOpen) ?? begin(runs, row)) : undefined;
    if (open) open.rowCount += 1;
  }
  return runs;
}

function begin(runs: { firstRow: number; rowCount: number }[], firstRow: number): { rowCount: number } {
  const run = { firstRow, rowCount: 0 };
  runs.push(run);
  return run;
}

const MOST_GAPS = 100;

function findGaps(plan: Plan, matches: Found["matches"], { from, to }: { from: number; to: number }): Gap[] {
  return plan.parts
    .flatMap((planned) => {
      const match = matches.get(planned)!;
      const runs = findRuns(to - from, (row) => match.from[from + row]! < 0);
      const { feature, part } = planned;
      return runs.map((run) => ({ feature, topic: part.topic, firstRow: from + run.firstRow, rowCount: run.rowCount }));
    })
    .sort((a, b) => a.firstRow - b.firstRow)
    .slice(0, MOST_GAPS);
}
