import { type api, type Input, type LakeFile, MAX_LAKE_FILE_HOURS } from "@downlink/protocol";
import { lakeFileKey, topicHashOf } from "../../background/indexing/lake-key.ts";
import type { Ctx } from "../../calls/context/context.ts";
import type { Handlers } from "../../calls/serve/handlers.ts";
import { invalid, refuse } from "../../core/errors.ts";
import { Prisma } from "../../db/generated/client.ts";
import { selectDevice } from "../../fleet/devices/find-device.ts";
import { selectSession } from "../../fleet/sessions/find-session.ts";
import { visibleIn } from "../../organization/projects/find-project.ts";
import { findSiteOfType } from "../../organization/projects/find-site.ts";
import { scopeWhere } from "../../organization/projects/scope-sql.ts";
import { selectRecording } from "../recordings/find-recording.ts";

type Contract = typeof api.lakeFiles;
type ListQuery = Input<Contract["list"]>;

const HOUR_NS = 3_600_000_000_000n;
/** The list has no pages, so a query of more is refused. */
const MOST_FILES = 100_000;

export const lakeFiles: Handlers<Contract> = { list: listLakeFiles };

/** Files are listed once all of their import are verified, and not any more when its data is deleted. spec: Lake files */
async function listLakeFiles(ctx: Ctx, query: ListQuery): Promise<LakeFile[]> {
  requireBounds(query);
  const { id: siteId } = await findSiteOfType(ctx, query.siteId, ["self-hosted"]);
  const selected = [
    ["id", (await selectRecording(ctx, query))?.id],
    ["deviceId", (await selectDevice(ctx, query))?.id],
    ["sessionId", (await selectSession(ctx, query))?.id],
  ] as const;
  const where = [
    ...scopeWhere("r", await visibleIn(ctx, query.projectId)),
    ...selected.flatMap(([column, id]) =>
      id === undefined ? [] : [Prisma.sql`r.${Prisma.raw(`"${column}"`)} = ${id}`],
    ),
    ...within(query),
  ];
  const rows = await ctx.db.prisma.$queryRaw<Row[]>`
    SELECT f."importId", f."topicHash", f.topic
    FROM "Recording" r JOIN "Lake" l ON l."importId" = r."importId" JOIN "LakeFile" f ON f."importId" = l."importId"
      JOIN "Site" s ON s.id = l."siteId"
    WHERE l."siteId" = ${siteId} AND l.state = 'listed' AND s."indexingStrategy" = 'split-files' AND r."siteId" = l."siteId"
      AND ${Prisma.join(where, " AND ")}
    ORDER BY f."importId" COLLATE "C", f."topicHash" COLLATE "C" LIMIT ${MOST_FILES + 1}`;
  if (rows.length > MOST_FILES)
    refuse("InvalidRequest", `the query finds more than ${MOST_FILES} files; ask for a shorter time or for one topic`);
  return rows.map((row) => ({ path: lakeFileKey(row), topics: [row.topic] }));
}

interface Row {
  readonly importId: string;
  readonly topicHash: string;
  readonly topic: string;
}

/** Files with messages in the window, and of the topic. */
function within({ start, end, topic }: ListQuery): Prisma.Sql[] {
  return [
    ...(start === undefined ? [] : [Prisma.sql`f."endNs" >= ${start}`]),
    ...(end === undefined ? [] : [Prisma.sql`f."startNs" <= ${end}`]),
    ...(topic ? [Prisma.sql`f."topicHash" = ${topicHashOf(topic)}`] : []),
  ];
}

/** A query is limited by a device within at most 24 hours, or by a recording or session, which need no times. */
function requireBounds(query: ListQuery): void {
  const { start, end, recordingId, recordingKey, sessionId, sessionKey } = query;
  if (start !== undefined && end !== undefined && start > end) invalid("start", "must not be after end");
  if (recordingId || recordingKey || sessionId || sessionKey) return;
  if (!query.deviceId && !query.deviceName)
    refuse("InvalidRequest", "the query must name a device, a recording or a session, by id, name or key");
  if (start === undefined) invalid("start", "is required in a query by device");
  if (end === undefined) invalid("end", "is required in a query by device");
  if (end - start > BigInt(MAX_LAKE_FILE_HOURS) * HOUR_NS)
    invalid("end", `must be at most ${MAX_LAKE_FILE_HOURS} hours after start in a query by device`);
}
