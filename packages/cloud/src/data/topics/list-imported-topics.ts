import type { Ctx } from "../../calls/context/context.ts";
import { Prisma } from "../../db/generated/client.ts";
import { columnsOfRecording, isLong, longBefore, reachesBySpans, touches } from "../../db/span-sql.ts";
import { selectDevice } from "../../fleet/devices/find-device.ts";
import { visibleIn, visibleProjects } from "../../organization/projects/find-project.ts";
import type { ListQuery, TopicRow } from "./topic-rows.ts";

type Sql = Prisma.Sql;

/** A column that an index begins with, before topic and version, and the requested values. */
interface Scope {
  readonly column: Sql;
  readonly ids: readonly string[];
}

/**
 * Lists the topics of all imported recordings of a device or of projects. One step in the index leads from a topic in a version to the
 * next, past however many recordings that have it.
 */
export async function listImportedTopics(ctx: Ctx, query: ListQuery): Promise<TopicRow[]> {
  const scope = await selectScope(ctx, query);
  const { limit, offset } = query;
  const direction = Prisma.raw(query.sortOrder);
  const isAfter = Prisma.raw(`(t.topic, t.version) ${query.sortOrder === "asc" ? ">" : "<"} (p.topic, p.version)`);
  const keys = query.sortBy === "version" ? ["p.version", "p.topic"] : ["p.topic", "p.version"];
  return ctx.db.prisma.$queryRaw<TopicRow[]>`
    WITH RECURSIVE pair AS (
      SELECT 1::bigint AS number, t.* FROM (${firstPair(scope, Prisma.sql`TRUE`, direction)}) AS t
      UNION ALL
      SELECT p.number + 1, t.* FROM pair p CROSS JOIN LATERAL (${firstPair(scope, isAfter, direction)}) AS t
      WHERE p.number < ${countPairs(query)}
    )
    SELECT topic, version, "messageEncoding", "schemaName", "schemaEncoding", "schemaSha256"
    FROM pair p WHERE ${isInTime(ctx, query, scope)}
    ORDER BY ${Prisma.raw(keys[0]!)} ${direction}, ${Prisma.raw(keys[1]!)} ${direction} LIMIT ${limit} OFFSET ${offset}`;
}

/** How many topics are walked at most: if the walk is in the order of the list and shows all, no more than the page needs. */
function countPairs({ sortBy, start, end, limit, offset }: ListQuery): number {
  const isWholePage = sortBy !== "version" && start === undefined && end === undefined;
  return isWholePage ? limit + offset : Number.MAX_SAFE_INTEGER;
}

async function selectScope(ctx: Ctx, query: ListQuery): Promise<Scope> {
  const device = await selectDevice(ctx, query);
  if (device) return { column: Prisma.sql`t."importedDeviceId"`, ids: [device.id] };
  const column = Prisma.sql`t."importedProjectId"`;
  const { projectId } = await visibleIn(ctx, query.projectId);
  if (typeof projectId === "string") return { column, ids: [projectId] };
  const projects = await ctx.db.prisma.project.findMany({ where: visibleProjects(ctx), select: { id: true } });
  return { column, ids: projects.map(({ id }) => id) };
}

/** Selects the first topic and version that fulfil the condition. */
function firstPair({ column, ids }: Scope, condition: Sql, direction: Sql): Sql {
  return Prisma.sql`
    SELECT t.* FROM unnest(${[...ids]}::text[]) AS scope(id) CROSS JOIN LATERAL (
      SELECT t.topic, t.version, t."messageEncoding", t."schemaName", t."schemaEncoding", t."schemaSha256"
      FROM "RecordingTopic" t WHERE ${column} = scope.id AND ${condition}
      ORDER BY t.topic ${direction}, t.version ${direction} LIMIT 1) AS t
    ORDER BY t.topic ${direction}, t.version ${direction} LIMIT 1`;
}

const topicColumns = {
  id: Prisma.sql`t."recordingId"`,
  startNs: Prisma.sql`t."importedStartNs"`,
  endNs: Prisma.sql`t."importedEndNs"`,
};

/** "start (recordings ending on or after), end (recordings starting on or before)". spec: Topics */
function isInTime({ caller }: Ctx, { start, end }: ListQuery, { column, ids }: Scope): Sql {
  if (start === undefined && end === undefined) return Prisma.sql`TRUE`;
  if (start !== undefined && end !== undefined && start > end) return Prisma.sql`FALSE`;
  const near = [
    ...(start === undefined
      ? []
      : [Prisma.sql`t."importedStartNs" >= ${longBefore(start)} AND t."importedEndNs" >= ${start}`]),
    ...(end === undefined ? [] : [Prisma.sql`t."importedStartNs" <= ${end}`]),
    ...reachesBySpans(topicColumns, { start, end }),
  ];
  const isOfNear = Prisma.sql`EXISTS (
    SELECT FROM unnest(${[...ids]}::text[]) AS scope(id) JOIN "RecordingTopic" t ON ${column} = scope.id
    WHERE t.topic = p.topic AND t.version = p.version AND ${Prisma.join(near, " AND ")})`;
  const within = [...touches("r", { start, end }), ...reachesBySpans(columnsOfRecording("r"), { start, end })];
  const isOfLong = Prisma.sql`(p.topic, p.version) IN (
    SELECT t.topic, t.version FROM "Recording" r JOIN "RecordingTopic" t ON t."recordingId" = r.id
    WHERE r."orgId" = ${caller.orgId} AND ${isLong("r")} AND ${Prisma.join(within, " AND ")}
      AND ${column} = ANY(${[...ids]}))`;
  return Prisma.sql`(${isOfNear} OR ${isOfLong})`;
}
