import { parseTimestamp } from "@downlink/protocol";
import { z } from "zod";
import { findGaps } from "../preview/gaps.ts";
import { makeTrack, type Track } from "../preview/make-track.ts";

const Position = z.tuple([z.number(), z.number()]);
const Feature = z.object({
  geometry: z.discriminatedUnion("type", [
    z.object({ type: z.literal("LineString"), coordinates: z.array(Position) }),
    z.object({ type: z.literal("Point"), coordinates: Position }),
  ]),
  properties: z.object({ coordinateProperties: z.object({ times: z.array(z.string()) }) }),
});

/** Fetches the stored track of a recording, and measures it. Its times count from its first position. */
export async function fetchTrack(link: string): Promise<Track> {
  const answer = await fetch(link);
  if (!answer.ok) throw new Error(`The track cannot be read: ${answer.status}`);
  const { geometry, properties } = Feature.parse(await answer.json());
  const positions = geometry.type === "Point" ? [geometry.coordinates] : geometry.coordinates;
  const times = properties.coordinateProperties.times.map((text) => parseTimestamp(text) ?? 0n);
  const fixes = positions.map(([longitude, latitude], at) => {
    return { timeNs: Number(times[at]! - times[0]!), longitude, latitude };
  });
  return makeTrack(fixes, findGaps(fixes.map(({ timeNs }) => timeNs)));
}
