import type { api, Input, RecordingTopic } from "@downlink/protocol";
import type { Ctx } from "../../calls/context/context.ts";
import type { Complete } from "../../core/complete.ts";
import type { RecordingTopicActivityModel, RecordingTopicModel } from "../../db/generated/models.ts";
import { findRecording } from "./find-recording.ts";

/** Answers the topics as they were counted by the agent that has the file, or by the import. */
export async function listTopics(
  ctx: Ctx,
  { limit, offset, ...ref }: Input<(typeof api.recordings)["topics"]>,
): Promise<Complete<RecordingTopic>[]> {
  const { id } = await findRecording(ctx, ref);
  const rows = await ctx.db.prisma.recordingTopic.findMany({
    where: { recordingId: id },
    orderBy: [{ topic: "asc" }, { version: "asc" }],
    take: limit,
    skip: offset,
  });
  const activities = await ctx.db.prisma.recordingTopicActivity.findMany({
    where: { recordingId: id, topic: { in: [...new Set(rows.map(({ topic }) => topic))] } },
  });
  const byTopic = new Map(activities.map((activity) => [keyOf(activity), activity]));
  return rows.map((row) => toRecordingTopic(row, byTopic.get(keyOf(row))));
}

function keyOf({ topic, version }: { readonly topic: string; readonly version: string }): string {
  return `${version} ${topic}`;
}

function toRecordingTopic(row: RecordingTopicModel, when?: RecordingTopicActivityModel): Complete<RecordingTopic> {
  return {
    topic: row.topic,
    encoding: row.messageEncoding,
    schemaName: row.schemaName,
    schemaEncoding: row.schemaEncoding,
    version: row.version,
    messageCount: Number(row.messageCount),
    start: row.startNs ?? undefined,
    end: row.endNs ?? undefined,
    meanHz: meanHz(row),
    maxGapNs: when?.maxGapNs == null ? null : Number(when.maxGapNs),
    activity: when?.activity ? Buffer.from(when.activity).toString("base64") : null,
  };
}

/** There is one interval less than there are messages. */
function meanHz({ messageCount, startNs, endNs }: RecordingTopicModel): number | undefined {
  if (startNs === null || endNs === null || endNs <= startNs || messageCount < 2n) return undefined;
  return (Number(messageCount - 1n) * 1e9) / Number(endNs - startNs);
}
