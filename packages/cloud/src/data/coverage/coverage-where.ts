import { type api, FIRST_TIME_NS, type Input } from "@downlink/protocol";
import type { Ctx } from "../../calls/context/context.ts";
import { Prisma } from "../../db/generated/client.ts";
import { LONG_NS } from "../../db/span-sql.ts";
import { selectDevice } from "../../fleet/devices/find-device.ts";
import { selectSession } from "../../fleet/sessions/find-session.ts";
import { visibleIn } from "../../organization/projects/find-project.ts";
import { scopeWhere } from "../../organization/projects/scope-sql.ts";
import { selectRecording } from "../recordings/find-recording.ts";

type Query = Input<(typeof api.coverage)["list"]>;
type Sql = Prisma.Sql;

/** Returns the condition on the recordings `r` that a coverage query is about. */
export async function coverageWhere(ctx: Ctx, query: Query): Promise<Sql> {
  const device = await selectDevice(ctx, query);
  const scope = await visibleIn(ctx, query.projectId);
  const named = await namesRecordings(ctx, query);
  return Prisma.join(
    [
      ...scopeWhere("r", scope),
      touchesWindow(query),
      ...(query.includeEdgeRecordings ? [] : [Prisma.sql`r."importStatus" = 'complete'`]),
      ...(device ? [Prisma.sql`r."deviceId" = ${device.id}`] : []),
      ...(named.length > 0 ? named : [Prisma.sql`r."deviceId" IS NOT NULL`]),
    ],
    " AND ",
  );
}

/**
 * A union of two ranges of two indexes, so that no query reads all that came before the window. A recording of at most a day starts within
 * the window or at most a day before it. Only longer ones are in the index of spans: to write every recording there would cost as much as
 * writing to five other indexes.
 */
function touchesWindow({ start, end }: Query): Sql {
  // Without plain bounds, or the planner would read all earlier ones from an index by start. A span cannot tell the last two nanoseconds of
  // all time apart.
  const isLong = Prisma.sql`r."durationNs" > ${Prisma.raw(String(LONG_NS))}`;
  const overlaps = Prisma.sql`downlink_span(r."startNs", r."endNs") && downlink_span(${start}::bigint, ${end}::bigint)`;
  const isNear = Prisma.sql`r."startNs" BETWEEN ${earliest(start - LONG_NS)} AND ${end} AND r."endNs" >= ${start}`;
  return Prisma.sql`(${isNear} OR ${isLong} AND ${overlaps})`;
}

/** Returns the time, or the earliest one that 64 bits hold. */
function earliest(timeNs: bigint): bigint {
  return timeNs < FIRST_TIME_NS ? FIRST_TIME_NS : timeNs;
}

/** If the query names recordings or a session, those without a device are included too. */
async function namesRecordings(ctx: Ctx, query: Query): Promise<Sql[]> {
  const recording = await selectRecording(ctx, query);
  const session = await selectSession(ctx, query);
  return [
    ...(recording ? [Prisma.sql`r.id = ${recording.id}`] : []),
    ...(query.importId ? [Prisma.sql`r."importId" = ${query.importId}`] : []),
    ...(session ? [Prisma.sql`r."sessionId" = ${session.id}`] : []),
  ];
}
