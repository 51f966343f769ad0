import type { api, Input, Topic } from "@downlink/protocol";
import type { Ctx } from "../context.ts";
import type { Handlers } from "../http/serve.ts";
import { whereSelected } from "../recordings/select-recordings.ts";

type Contract = typeof api.topics;
type ListQuery = Input<Contract["list"]>;

export const topics: Handlers<Contract> = { list: listTopics };

async function listTopics(ctx: Ctx, query: ListQuery): Promise<Topic[]> {
  const recording = await whereSelected(ctx, query);
  const topic = { topic: query.sortOrder };
  const version = { version: query.sortOrder };
  const rows = await ctx.db.prisma.recordingTopic.groupBy({
    by: ["topic", "version", "messageEncoding", "schemaName", "schemaEncoding", "schemaSha256"],
    where: { recording: namesOnlyRecording(query) ? recording : { AND: [recording, { importStatus: "complete" }] } },
    orderBy: query.sortBy === "version" ? [version, topic] : [topic, version],
    take: query.limit,
    skip: query.offset,
  });
  const schemas = query.includeSchemas ? await schemaTexts(ctx, rows) : new Map<string, string>();
  return rows.map((row) => ({
    topic: row.topic,
    encoding: row.messageEncoding,
    schemaName: row.schemaName,
    schemaEncoding: row.schemaEncoding,
    version: row.version,
    schema: query.includeSchemas ? (schemas.get(row.schemaSha256) ?? "") : undefined,
  }));
}

/** spec: Topics: those of not-imported recordings come only when no parameter but the recording's id or key is given. */
function namesOnlyRecording(query: ListQuery): boolean {
  const others = [
    query.start,
    query.end,
    query.importId,
    query.deviceId,
    query.deviceName,
    query.sessionId,
    query.sessionKey,
  ];
  const isNamed = query.recordingId !== undefined || query.recordingKey !== undefined;
  return isNamed && others.every((value) => value === undefined);
}

async function schemaTexts(ctx: Ctx, rows: readonly { schemaSha256: string }[]): Promise<Map<string, string>> {
  const sha256s = [...new Set(rows.map((row) => row.schemaSha256))];
  const found = await ctx.db.prisma.schemaText.findMany({
    where: { orgId: ctx.caller.orgId, sha256: { in: sha256s } },
  });
  return new Map(found.map(({ sha256, data }) => [sha256, Buffer.from(data).toString("base64")]));
}
