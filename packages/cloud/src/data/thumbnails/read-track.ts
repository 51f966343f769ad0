import { POSITION_TYPES } from "@downlink/messages/position";
import { readFixes, type TopicFixes } from "@downlink/pictures/in-thread";
import { formatTimestamp, thumbnailCounts } from "@downlink/protocol";
import type { ExportDeps } from "../exports/stream-selection.ts";
import { instantsOf, MAX_PART_BYTES, type Making, type Part, readPart, topicsOf } from "./read-part.ts";

/** The positions of a large recording, so that not all of its chunks are read. */
const FEW = 48;

/**
 * Reads where a robot was, by the first topic that says so: all positions of a small recording, thinned out, and some of a large one. Undefined
 * where none has a position.
 */
export async function readTrack(deps: ExportDeps, making: Making): Promise<TopicFixes | undefined> {
  const { recording, source } = making;
  const topics = topicsOf(recording, POSITION_TYPES).slice(0, thumbnailCounts.topics);
  if (topics.length === 0) return undefined;
  const read = async (part: Omit<Part, "topics">) => {
    const file = await readPart(deps, making, { ...part, topics });
    return readFixes({ file, topics, most: thumbnailCounts.positions });
  };
  const isSmall = source.sizeBytes <= MAX_PART_BYTES;
  const found = isSmall ? await read(recording) : await readFew(instantsOf(recording, FEW), read);
  return found.find(({ fixes }) => fixes.length > 0);
}

/** Reads the last position of each topic at each time. */
async function readFew<T>(
  instants: readonly T[],
  read: (instant: T) => Promise<readonly TopicFixes[]>,
): Promise<TopicFixes[]> {
  const byTopic = new Map<string, TopicFixes["fixes"][number][]>();
  for (const instant of instants)
    for (const { topic, fixes } of await read(instant)) {
      const known = byTopic.get(topic) ?? [];
      byTopic.set(topic, known);
      const last = fixes.at(-1);
      if (last && last.timeNs !== known.at(-1)?.timeNs) known.push(last);
    }
  return [...byTopic].map(([topic, fixes]) => ({ topic, fixes }));
}

/** Writes a track as a GeoJSON feature, with the times of its positions. source: RFC 7946; the times as togeojson has them */
export function toGeoJson({ topic, fixes }: TopicFixes): Uint8Array {
  const all = fixes.map(({ longitude, latitude }) => [longitude, latitude]);
  const geometry = all.length > 1 ? { type: "LineString", coordinates: all } : { type: "Point", coordinates: all[0] };
  const times = fixes.map(({ timeNs }) => formatTimestamp(timeNs));
  return Buffer.from(
    JSON.stringify({ type: "Feature", geometry, properties: { topic, coordinateProperties: { times } } }),
  );
}
