// The second reading keeps the values of the messages that rows take, and nothing of the others.

import { TrainingError } from "../episodes/episode.ts";
import type { AlignedEpisode } from "./align-episode.ts";
import { interpolate } from "./interpolate.ts";
import type { Match } from "./match-rows.ts";
import type { Plan, PlannedFeature, PlannedPart } from "./plan.ts";
import { readNumbered } from "./read-numbered.ts";
import { readPart } from "./read-part.ts";
import { type Cells, newCells, setCells } from "./to-cells.ts";

/** The values of a feature that has no pictures: for each row its width, one row after the other, shifted as the mapping says. */
export interface Column {
  readonly feature: PlannedFeature;
  readonly width: number;
  readonly names: readonly string[];
  readonly cells: Cells;
}

/** The most values of one episode: 160 MB. */
const MAX_CELLS = 20_000_000;

/** Returns the columns of an episode, with as many rows as it could have; those outside of its pieces may be zero. */
export async function readValues(plan: Plan, aligned: AlignedEpisode): Promise<Column[]> {
  const features = plan.features.filter(({ dtype }) => dtype !== "image");
  const { episode, collected, rows } = aligned;
  const widths = features.map(({ parts }) => parts.reduce((sum, part) => sum + widthOf(part, aligned), 0));
  const total = widths.reduce((sum, width) => sum + width, 0) * rows.atNs.length;
  if (total > MAX_CELLS)
    throw new TrainingError(`the episode ${episode.id} has ${total} values, and ${MAX_CELLS} are read`);
  const taken = await takeMessages(
    plan,
    aligned,
    features.flatMap(({ parts }) => parts),
  );
  return features.map((feature, place): Column => {
    const names = feature.parts.flatMap((part) => collected.series.get(part)!.facts.names);
    const cells = newCells(feature.dtype, widths[place]! * rows.atNs.length);
    let offset = 0;
    for (const part of feature.parts) {
      const width = widthOf(part, aligned);
      fill(cells, {
        part,
        match: aligned.matches.get(part)!,
        from: taken.get(part)!,
        width,
        offset,
        of: widths[place]!,
      });
      offset += width;
    }
    shift(cells, feature.shiftRows * widths[place]!);
    return { feature, width: widths[place]!, names, cells };
  });
}

function widthOf(part: PlannedPart, { collected }: AlignedEpisode): number {
  return collected.series.get(part)!.facts.shape[0] ?? 0;
}

/** The values of the messages that are taken, one message after the other. */
interface Taken {
  readonly cells: Cells;
  /** By the place in the series: where its values stand, in messages. −1: it is not taken. */
  readonly slots: Int32Array;
}

async function takeMessages(
  plan: Plan,
  aligned: AlignedEpisode,
  parts: readonly PlannedPart[],
): Promise<Map<PlannedPart, Taken>> {
  const { episode, collected, matches } = aligned;
  const wanted = new Map(
    parts.map((part) => [part, wantSlots(matches.get(part)!, collected.series.get(part)!.ordinals)]),
  );
  const taken = new Map(
    parts.map((part): [PlannedPart, Taken] => {
      const { slots, count } = wanted.get(part)!;
      return [part, { slots, cells: newCells(part.dtype, count * widthOf(part, aligned)) }];
    }),
  );
  const byTopic = Map.groupBy(parts, ({ part }) => part.topic);
  for await (const { message, ordinal, value } of readNumbered(plan, episode, { parts })) {
    for (const part of byTopic.get(message.channel.topic) ?? []) {
      const slot = wanted.get(part)!.slotOf[ordinal] ?? -1;
      if (slot < 0) continue;
      const { cells } = readPart(part.part, value());
      setCells(taken.get(part)!.cells, slot * widthOf(part, aligned), { cells, dtype: part.dtype });
    }
  }
  return taken;
}

interface Wanted {
  readonly slots: Int32Array;
  /** By the number of the message among those of its topic: its slot. −1: it is not taken. */
  readonly slotOf: Int32Array;
  readonly count: number;
}

function wantSlots({ from, to }: Match, ordinals: Int32Array): Wanted {
  const slots = new Int32Array(ordinals.length).fill(-1);
  const slotOf = new Int32Array(ordinals.reduce((most, ordinal) => Math.max(most, ordinal + 1), 0)).fill(-1);
  let count = 0;
  for (const places of [from, to])
    for (const place of places) {
      if (place < 0 || slots[place]! >= 0) continue;
      slots[place] = count;
      slotOf[ordinals[place]!] = count;
      count += 1;
    }
  return { slots, slotOf, count };
}

interface Filling {
  readonly part: PlannedPart;
  readonly match: Match;
  readonly from: Taken;
  readonly width: number;
  /** Where the part begins in a row. */
  readonly offset: number;
  /** How many values a row has. */
  readonly of: number;
}

function fill(cells: Cells, { part, match, from: { cells: values, slots }, width, offset, of }: Filling): void {
  for (const [row, place] of match.from.entries()) {
    if (place < 0) continue;
    const start = slots[place]! * width;
    const at = row * of + offset;
    for (let column = 0; column < width; column += 1) cells[at + column] = values[start + column]!;
    const next = match.to[row]!;
    if (next < 0) continue;
    const ends = { from: values as Float64Array, a: start, b: slots[next]! * width, width, share: match.share[row]! };
    interpolate(cells as Float64Array, at, { ...ends, quaternion: part.part.quaternion });
  }
}

/** Each row takes the values of a later one. */
function shift(cells: Cells, by: number): void {
  if (by === 0) return;
  for (let at = by; at < cells.length; at += 1) cells[at - by] = cells[at]!;
}
