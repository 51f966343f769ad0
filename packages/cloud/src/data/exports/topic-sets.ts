import type { Ctx } from "../../calls/context/context.ts";
import type { ExportSelection } from "./export-selection.ts";

interface Wanted {
  readonly recordingIds: readonly string[];
  /** The topics to export; an empty list means all. */
  readonly topics: readonly string[];
}

export interface TopicSets {
  readonly topicSets: ExportSelection["topicSets"];
  /** The index of each recording's set; absent for a recording that was imported before channels were stored. */
  readonly setOf: ReadonlyMap<string, number>;
}

/**
 * Finds the topics of recordings, each set once, because the files of a drive have the same topics. This is for the latest message of each
 * channel.
 */
export async function findTopicSets(ctx: Ctx, { recordingIds, topics }: Wanted): Promise<TopicSets> {
  const isAny = topics.length === 0;
  const sets = await ctx.db.prisma.$queryRaw<{ key: string; recordingIds: string[] }[]>`
    SELECT s.key, array_agg(s."recordingId") AS "recordingIds"
    FROM (
      SELECT "recordingId", md5(string_agg(md5(topic) || version || "channelsKey", ',' ORDER BY topic, version)) AS key
      FROM "RecordingTopic"
      WHERE "recordingId" = ANY(${recordingIds}) AND "messageCount" > 0 AND (${isAny} OR topic = ANY(${topics}))
      GROUP BY "recordingId"
      HAVING bool_and("channelsKey" IS NOT NULL)
    ) s GROUP BY s.key`;
  const setOf = new Map(sets.flatMap(({ recordingIds: ids }, set) => ids.map((id) => [id, set])));
  const firstIds = sets.map(({ recordingIds: [first] }) => first!);
  const keysOf = await findTopicKeys(ctx, firstIds);
  return { setOf, topicSets: firstIds.map((id) => keysOf(id)) };
}

/** Finds for each recording one key for each topic, made of all its versions together. */
async function findTopicKeys(
  ctx: Ctx,
  recordingIds: readonly string[],
): Promise<(recordingId: string) => [string, string][]> {
  const rows = await ctx.db.prisma.recordingTopic.findMany({
    where: { recordingId: { in: [...recordingIds] }, messageCount: { gt: 0 } },
    select: { recordingId: true, topic: true, version: true, channelsKey: true },
    orderBy: [{ topic: "asc" }, { version: "asc" }],
  });
  const byRecording = Map.groupBy(rows, ({ recordingId }) => recordingId);
  return (recordingId) => {
    const byTopic = Map.groupBy(byRecording.get(recordingId) ?? [], ({ topic }) => topic);
    return [...byTopic].map(([topic, versions]) => [
      topic,
      versions.map(({ version, channelsKey }) => `${version}.${channelsKey}`).join(" "),
    ]);
  };
}

/** Finds requested topics that none of the recordings has. */
export async function findUnknownTopics(ctx: Ctx, { recordingIds, topics }: Wanted): Promise<string[]> {
  if (topics.length === 0) return [];
  const found = await ctx.db.prisma.$queryRaw<{ topic: string }[]>`
    SELECT DISTINCT topic FROM "RecordingTopic" WHERE "recordingId" = ANY(${recordingIds}) AND topic = ANY(${topics})`;
  const known = new Set(found.map(({ topic }) => topic));
  return [...new Set(topics)].filter((topic) => !known.has(topic));
}
