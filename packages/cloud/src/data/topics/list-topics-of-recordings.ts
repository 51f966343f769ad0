import type { Ctx } from "../../calls/context/context.ts";
import { filterBySelector } from "../recordings/select-recordings.ts";
import type { ListQuery, TopicRow } from "./topic-rows.ts";

/** Says whether the query names recordings or a session. */
export function namesRecordings(query: ListQuery): boolean {
  const { recordingId, recordingKey, importId, sessionId, sessionKey } = query;
  return [recordingId, recordingKey, importId, sessionId, sessionKey].some(Boolean);
}

/** Lists the topics of a few recordings, which are looked up one by one. */
export async function listTopicsOfRecordings(ctx: Ctx, query: ListQuery): Promise<TopicRow[]> {
  const { importId, sortOrder } = query;
  const recording = await filterBySelector(ctx, { ...query, importId: importId || undefined });
  const hash = { schemaSha256: sortOrder };
  const topic = { topic: sortOrder };
  const version = { version: sortOrder };
  const rows = await ctx.db.prisma.recordingTopic.groupBy({
    by: ["topic", "version", "messageEncoding", "schemaName", "schemaEncoding", "schemaSha256"],
    where: { recording: asksForRecordingOnly(query) ? recording : { AND: [recording, { importStatus: "complete" }] } },
    orderBy: query.sortBy === "version" ? [version, topic, hash] : [topic, version, hash],
    take: query.limit,
    skip: query.offset,
  });
  return rows;
}

/**
 * "Topics of not-imported recordings are returned only when no parameter other than recordingId or recordingKey is given". spec: Topics.
 * Only parameters that select recordings count: not a project, in which a key is looked up, nor options and paging.
 */
function asksForRecordingOnly(query: ListQuery): boolean {
  const { start, end, importId, deviceId, deviceName, sessionId, sessionKey } = query;
  const isNamed = query.recordingId !== undefined || query.recordingKey !== undefined;
  const isInTime = start !== undefined || end !== undefined;
  return isNamed && !isInTime && ![importId, deviceId, deviceName, sessionId, sessionKey].some(Boolean);
}
