import type { AlignedEpisode, Gap, Piece } from "../align/align-episode.ts";
import type { Plan, PlannedPart } from "../align/plan.ts";

/** The messages that one part of a feature, or a topic that becomes a table, has in an episode. */
export interface PartReport {
  /** Undefined for a table. */
  readonly feature: string | undefined;
  readonly topic: string;
  readonly encoding: string | undefined;
  readonly schemaName: string | undefined;
  /** The messages with a value, and those without one. */
  readonly messageCount: number;
  readonly withoutValue: number;
  /** Why the first of those without a value has none. */
  readonly reason: string | undefined;
  /** In messages a second, by the median distance of two. */
  readonly medianRateHz: number | undefined;
  readonly greatestGapMs: number | undefined;
  readonly shape: readonly number[];
  /** The columns of a table; those within others are named by their ways, such as `header.stamp.sec` and `points[].x`. */
  readonly columns?: readonly TableColumn[];
}

export interface TableColumn {
  readonly name: string;
  readonly type: string;
}

/** Something in the rows of an episode that is odd, and may be right. */
export interface Warning {
  readonly check: "frozen" | "clipped" | "jump";
  readonly feature: string;
  /** A sentence without its end. */
  readonly text: string;
}

export interface EpisodeReport {
  readonly episodeId: string;
  /** The rows of all its pieces together. */
  readonly rowCount: number;
  readonly pieceCount: number;
  readonly trimmedStart: number;
  readonly trimmedEnd: number;
  readonly gaps: readonly (Omit<Gap, "firstRow"> & { readonly startNs: bigint })[];
  readonly leftOut: string | undefined;
  readonly parts: readonly PartReport[];
  readonly warnings: readonly Warning[];
  /** The facts that `downlink.json` keeps. */
  readonly kept: Readonly<Record<string, unknown>>;
}

export function describeEpisode(plan: Plan, aligned: AlignedEpisode, warnings: readonly Warning[]): EpisodeReport {
  const { episode, pieces, gaps, trimmedStart, trimmedEnd, leftOut, rows } = aligned;
  const startNs = (row: number) => episode.startNs + BigInt(rows.atNs[row]!);
  const toKept = ({ firstRow, rowCount }: Piece) => ({ t0: String(startNs(firstRow)), rows: rowCount });
  return {
    episodeId: episode.id,
    rowCount: pieces.reduce((sum, piece) => sum + piece.rowCount, 0),
    pieceCount: pieces.length,
    ...{ trimmedStart, trimmedEnd, leftOut },
    gaps: gaps.map(({ firstRow, ...gap }) => ({ ...gap, startNs: startNs(firstRow) })),
    parts: plan.parts.map((part) => describePart(part, aligned)),
    warnings,
    kept: {
      episodeId: episode.id,
      recordings: episode.recordings,
      pieces: pieces.map(toKept),
      ...{ trimmedStart, trimmedEnd, leftOut },
    },
  };
}

function describePart(planned: PlannedPart, { collected }: AlignedEpisode): PartReport {
  const { atNs, facts } = collected.series.get(planned)!;
  const steps = atNs.subarray(1).map((at, place) => at - atNs[place]!);
  const sorted = steps.slice().sort();
  const median = sorted[sorted.length >> 1];
  return {
    ...{ feature: planned.feature, topic: planned.part.topic },
    ...{ encoding: facts.channel?.messageEncoding, schemaName: facts.channel?.schemaName },
    ...{ messageCount: atNs.length, withoutValue: facts.unusable, reason: facts.reason, shape: facts.shape },
    medianRateHz: median ? 1e9 / median : undefined,
    greatestGapMs: sorted.length > 0 ? sorted.at(-1)! / 1e6 : undefined,
  };
}
