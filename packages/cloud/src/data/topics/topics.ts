import type { api, Input, Topic } from "@downlink/protocol";
import type { Ctx } from "../../calls/context/context.ts";
import type { Handlers } from "../../calls/serve/handlers.ts";
import type { Complete } from "../../core/complete.ts";
import { type Batches, readInBatches } from "../../db/read-in-batches.ts";
import { filterBySelector } from "../recordings/select-recordings.ts";
import { listImportedTopics } from "./list-imported-topics.ts";
import { type ListQuery, type TopicRow, toTopic } from "./topic-rows.ts";

type Contract = typeof api.topics;

export const topics: Handlers<Contract> = { list: listTopics };

async function listTopics(
  ctx: Ctx,
  query: Input<Contract["list"]>,
): Promise<Complete<Topic>[] | Batches<Complete<Topic>>> {
  const rows = await (namesRecordings(query) ? listTopicsOfRecordings(ctx, query) : listImportedTopics(ctx, query));
  if (!query.includeSchemas) return rows.map((row) => toTopic(row));
  return readInBatches(rows, (some) => withSchemas(ctx, some));
}

async function withSchemas(ctx: Ctx, rows: readonly TopicRow[]): Promise<Complete<Topic>[]> {
  const schemas = await schemaTexts(ctx, rows);
  return rows.map((row) => toTopic(row, schemas.get(row.schemaSha256) ?? ""));
}

/** Reads the texts of schemas in base 64, by their hashes. */
async function schemaTexts(ctx: Ctx, rows: readonly TopicRow[]): Promise<Map<string, string>> {
  const sha256s = [...new Set(rows.map((row) => row.schemaSha256))];
  const found = await ctx.db.prisma.schemaText.findMany({
    where: { orgId: ctx.caller.orgId, sha256: { in: sha256s } },
  });
  return new Map(found.map(({ sha256, data }) => [sha256, Buffer.from(data).toString("base64")]));
}

/** Says whether the query names recordings or a session. */
function namesRecordings(query: ListQuery): boolean {
  const { recordingId, recordingKey, importId, sessionId, sessionKey } = query;
  return [recordingId, recordingKey, importId, sessionId, sessionKey].some(Boolean);
}

/** Lists the topics of a few recordings, which are looked up one by one. */
async function listTopicsOfRecordings(ctx: Ctx, query: ListQuery): Promise<TopicRow[]> {
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
