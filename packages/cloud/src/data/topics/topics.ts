import type { api, Input, Topic } from "@downlink/protocol";
import type { Ctx } from "../../calls/context/context.ts";
import type { Handlers } from "../../calls/serve/handlers.ts";
import type { Complete } from "../../core/complete.ts";
import { type Batches, readInBatches } from "../../db/read-in-batches.ts";
import { listImportedTopics } from "./list-imported-topics.ts";
import { listTopicsOfRecordings, namesRecordings } from "./list-topics-of-recordings.ts";
import { type TopicRow, toTopic } from "./topic-rows.ts";

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
