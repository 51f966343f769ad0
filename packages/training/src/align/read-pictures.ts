// Pictures are read last, in the order of the recording, and each row is passed on as soon as its pictures are there: so few are in memory at a
// time.

import { TrainingError } from "../episodes/episode.ts";
import type { AlignedEpisode, Piece } from "./align-episode.ts";
import type { Plan, PlannedFeature } from "./plan.ts";
import { readNumbered } from "./read-numbered.ts";
import { type FoundPicture, findPicture } from "./read-part.ts";

/** A picture with its bytes. */
export interface Picture extends Pick<FoundPicture, "width" | "height" | "mediaType"> {
  readonly bytes: Uint8Array;
}

/** The most bytes of pictures that wait for others of their rows. */
const MAX_WAITING_BYTES = 192 * 1024 * 1024;

/** Yields the pictures of each row of the pieces, in the order of the features that have pictures. */
export async function* readPictures(plan: Plan, aligned: AlignedEpisode): AsyncGenerator<Picture[]> {
  const features = plan.features.filter(({ dtype }) => dtype === "image");
  const needs = features.map((feature) => needOf(feature, aligned));
  const { episode, pieces } = aligned;
  const rows = pieces.flatMap(({ firstRow, rowCount }) => Array.from({ length: rowCount }, (_, k) => firstRow + k));
  const byTopic = Map.groupBy(needs, ({ topic }) => topic);
  const parts = features.flatMap((feature) => feature.parts);
  let next = 0;
  for await (const { message, ordinal, value } of readNumbered(plan, episode, { parts })) {
    const taking = byTopic.get(message.channel.topic)!.filter(({ uses }) => uses.has(ordinal));
    for (const need of taking) keep(need, ordinal, readBytes(findPicture(need.part, value())));
    if (taking.length === 0) continue;
    while (next < rows.length && needs.every((need) => need.held.has(need.ordinalOf(rows[next]!)))) {
      yield needs.map((need) => use(need, need.ordinalOf(rows[next]!)));
      next += 1;
    }
    if (next === rows.length) return;
    const waiting = needs.reduce((sum, { bytes }) => sum + bytes, 0);
    if (waiting > MAX_WAITING_BYTES)
      throw new TrainingError(`the clocks of the pictures of ${episode.id} differ too much from each other`);
  }
  if (next < rows.length) throw new TrainingError(`the pictures of ${episode.id} changed while they were read`);
}

interface Need {
  readonly topic: string;
  readonly part: PlannedFeature["parts"][number]["part"];
  /** How many rows still take a message. */
  readonly uses: Map<number, number>;
  readonly held: Map<number, Picture>;
  bytes: number;
  ordinalOf(row: number): number;
}

function needOf({ parts: [planned], shiftRows }: PlannedFeature, { matches, collected, pieces }: AlignedEpisode): Need {
  const { from } = matches.get(planned!)!;
  const { ordinals } = collected.series.get(planned!)!;
  const ordinalOf = (row: number) => ordinals[from[row + shiftRows]!]!;
  const uses = new Map<number, number>();
  for (const piece of pieces) countUses(uses, piece, ordinalOf);
  const { part } = planned!;
  return { topic: part.topic, part, uses, held: new Map(), bytes: 0, ordinalOf };
}

function countUses(uses: Map<number, number>, { firstRow, rowCount }: Piece, ordinalOf: Need["ordinalOf"]): void {
  for (let row = firstRow; row < firstRow + rowCount; row += 1)
    uses.set(ordinalOf(row), (uses.get(ordinalOf(row)) ?? 0) + 1);
}

function readBytes({ width, height, mediaType, read }: FoundPicture): Picture {
  return { width, height, mediaType, bytes: read() };
}

function keep(need: Need, ordinal: number, picture: Picture): void {
  need.held.set(ordinal, picture);
  need.bytes += picture.bytes.byteLength;
}

function use(need: Need, ordinal: number): Picture {
  const picture = need.held.get(ordinal)!;
  const left = need.uses.get(ordinal)! - 1;
  need.uses.set(ordinal, left);
  if (left > 0) return picture;
  need.held.delete(ordinal);
  need.bytes -= picture.bytes.byteLength;
  return picture;
}
