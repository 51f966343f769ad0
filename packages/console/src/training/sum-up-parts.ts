import type { Output, TrainingMapping, trainingSets } from "@downlink/protocol";

export type Trial = Output<typeof trainingSets.tryOut>;
export type TriedEpisode = Trial["episodes"][number];
type PartReport = TriedEpisode["parts"][number];

/** The least and the greatest of some numbers. */
export type Range = readonly [least: number, most: number];

/** A part of a feature, or a topic that becomes a table, in all episodes that were tried. */
export interface SummedPart {
  /** Empty for a table. */
  readonly feature: string;
  readonly topic: string;
  /** The way to its values in a message; undefined for the message itself. */
  readonly field: string | undefined;
  readonly schemaName: string | undefined;
  readonly rateHz: Range | undefined;
  readonly gapMs: Range | undefined;
  readonly messageCount: number;
  readonly withoutValue: number;
  readonly reason: string | undefined;
  /** Those of a table, as the first episode with messages has them. */
  readonly columns: NonNullable<PartReport["columns"]>;
}

/** Sums up each part of the features over the episodes, which have the same parts in the same order. */
export function sumUpParts(episodes: readonly TriedEpisode[], mapping: TrainingMapping): SummedPart[] {
  const longest = episodes.reduce((most, { parts }) => Math.max(most, parts.length), 0);
  const fields = new Map<string, (string | undefined)[]>(
    Object.entries(mapping.features ?? {}).map(([name, { parts }]) => [name, parts.map(({ field }) => field)]),
  );
  return Array.from({ length: longest }, (_, place) => {
    const same = episodes.flatMap(({ parts }) => parts[place] ?? []);
    return { ...sumUp(same), field: fields.get(same[0]!.feature ?? "")?.shift() };
  });
}

function sumUp(same: readonly PartReport[]): Omit<SummedPart, "field"> {
  const total = (count: (part: PartReport) => number) => same.reduce((sum, part) => sum + count(part), 0);
  const { feature = "", topic } = same[0]!;
  return {
    feature,
    topic,
    schemaName: same.find(({ schemaName }) => schemaName !== undefined)?.schemaName,
    rateHz: rangeOf(same.map(({ medianRateHz }) => medianRateHz)),
    gapMs: rangeOf(same.map(({ greatestGapMs }) => greatestGapMs)),
    messageCount: total(({ messageCount }) => messageCount),
    withoutValue: total(({ withoutValue }) => withoutValue),
    reason: same.find(({ reason }) => reason !== undefined)?.reason,
    columns: same.find(({ columns = [] }) => columns.length > 0)?.columns ?? [],
  };
}

function rangeOf(values: readonly (number | undefined)[]): Range | undefined {
  const known = values.filter((value) => value !== undefined);
  return known.length === 0 ? undefined : [Math.min(...known), Math.max(...known)];
}
