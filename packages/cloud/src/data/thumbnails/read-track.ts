import { POSITION_TYPES } from "@downlink/messages/position";
import { type Fix, readFixes } from "@downlink/pictures/in-thread";
import { formatTimestamp, thumbnailCounts } from "@downlink/protocol";
import type { ExportDeps } from "../exports/stream-selection.ts";
import { instantsOf, MAX_PART_BYTES, type Making, readPart, topicsOf } from "./read-part.ts";

/** The positions of a recording's first topic that has some, in order of time. */
export interface Track {
  readonly topic: string;
  readonly fixes: readonly Fix[];
}

/** The positions of a large recording, so that not all of its chunks are read. */
const FEW = 48;

/** Reads where a robot was: all positions of a small recording, thinned out, and some of a large one. Undefined where it states none. */
export async function readTrack(deps: ExportDeps, making: Making): Promise<Track | undefined> {
  const { recording, source } = making;
  const [topic] = topicsOf(recording, POSITION_TYPES);
  if (topic === undefined) return undefined;
  const isSmall = source.sizeBytes <= MAX_PART_BYTES;
  const { startNs, endNs } = recording;
  const fixes: Fix[] = [];
  for (const part of isSmall ? [{ startNs, endNs }] : instantsOf(recording, FEW)) {
    const file = await readPart(deps, making, { ...part, topics: [topic] });
    const found = await readFixes({ file, topic, most: thumbnailCounts.positions });
    // The message at a time comes together with the last one before it.
    const fresh = isSmall ? found : found.slice(-1);
    fixes.push(...fresh.filter(({ timeNs }) => timeNs !== fixes.at(-1)?.timeNs));
  }
  return fixes.length > 0 ? { topic, fixes } : undefined;
}

/** Writes a track as a GeoJSON feature, with the times of its positions. source: RFC 7946; the times as togeojson has them */
export function toGeoJson({ topic, fixes }: Track): Uint8Array {
  const all = fixes.map(({ longitude, latitude }) => [longitude, latitude]);
  const geometry = all.length > 1 ? { type: "LineString", coordinates: all } : { type: "Point", coordinates: all[0] };
  const times = fixes.map(({ timeNs }) => formatTimestamp(timeNs));
  return Buffer.from(
    JSON.stringify({ type: "Feature", geometry, properties: { topic, coordinateProperties: { times } } }),
  );
}
