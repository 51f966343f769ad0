import { POSITION_TYPES } from "@downlink/messages/position";
import { type Fix, readFixes } from "@downlink/pictures/in-thread";
import { formatTimestamp, thumbnailCounts } from "@downlink/protocol";
import type { ExportDeps } from "../exports/stream-selection.ts";
import { instantsOf, MAX_PART_BYTES, type Making, readPart, topicsOf } from "./read-part.ts";

/** The positions of the first topic of a recording that has some, in order of time. */
export interface Track {
  readonly topic: string;
  readonly fixes: readonly Fix[];
}

/** The positions of a large recording, so that not all of its chunks are read. */
const FEW = 48;

/** Reads where a robot was: all positions of a small recording, thinned out, and some of a large one. Undefined where it states none. */
export async function readTrack(deps: ExportDeps, making: Making): Promise<Track | undefined> {
  for (const topic of topicsOf(making.recording, POSITION_TYPES).slice(0, thumbnailCounts.topics)) {
    const fixes = await readTopic(deps, making, topic);
    if (fixes.length > 0) return { topic, fixes };
  }
  return undefined;
}

async function readTopic(deps: ExportDeps, making: Making, topic: string): Promise<readonly Fix[]> {
  const { recording, source } = making;
  const read = async (part: { startNs: bigint; endNs: bigint; lookbackNs?: bigint }) => {
    const file = await readPart(deps, making, { ...part, topics: [topic] });
    return readFixes({ file, topic, most: thumbnailCounts.positions });
  };
  if (source.sizeBytes <= MAX_PART_BYTES) return read(recording);
  const fixes: Fix[] = [];
  for (const instant of instantsOf(recording, FEW)) {
    const last = (await read(instant)).at(-1);
    if (last && last.timeNs !== fixes.at(-1)?.timeNs) fixes.push(last);
  }
  return fixes;
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
