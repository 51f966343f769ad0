import type { api, Input } from "@downlink/protocol";
import { Prisma } from "../db/generated/client.ts";
import { touches } from "../db/span-sql.ts";
import { invalid } from "../http/errors.ts";
import { jsonbWhere, type Narrowing } from "../search/jsonb-where.ts";
import { parseQuery } from "../search/terms.ts";

type Filters = Pick<
  Input<(typeof api.episodes)["list"]>,
  "start" | "end" | "recordingId" | "metadataQuery" | "hasMissingRecordings"
>;

/** Conditions on a row `e` of Episode; none where nothing is asked of it. 400 for half a window or a malformed query. */
export function episodeConditions(filters: Filters): Prisma.Sql[] {
  return [...windowConditions(filters), ...contentConditions(filters)];
}

/** spec: Datasets/List episodes: "given together; episode window must overlap; straddling episodes included" */
export function windowConditions({ start, end }: Filters): Prisma.Sql[] {
  if ((start === undefined) !== (end === undefined))
    invalid(start === undefined ? "start" : "end", "start and end are given together");
  return touches("e", { start, end });
}

/** What is asked beside times and availability. */
export function contentConditions(
  { recordingId, metadataQuery = "" }: Filters,
  narrowing: Narrowing = "trigrams",
): Prisma.Sql[] {
  const terms = parseQuery(metadataQuery, { parameter: "metadataQuery" });
  return [
    ...(recordingId === undefined ? [] : [hasRecording(recordingId)]),
    ...(terms.length === 0 ? [] : [jsonbWhere(Prisma.sql`e.metadata`, terms, narrowing)]),
  ];
}

function hasRecording(recordingId: string): Prisma.Sql {
  return Prisma.sql`EXISTS (
    SELECT FROM "EpisodeRecording" m WHERE m."episodeId" = e.id AND m."recordingId" = ${recordingId})`;
}
