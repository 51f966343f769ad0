import type { api, Input } from "@downlink/protocol";
import type { Ctx } from "../../calls/context/context.ts";
import { jsonbWhere, type Narrowing } from "../../calls/search/jsonb-where.ts";
import { parseQuery } from "../../calls/search/terms.ts";
import { invalid, throwNotFound } from "../../core/errors.ts";
import { Prisma } from "../../db/generated/client.ts";
import { touches } from "../../db/span-sql.ts";
import { visibleIn } from "../../organization/projects/find-project.ts";

type Filters = Pick<
  Input<(typeof api.episodes)["list"]>,
  "start" | "end" | "recordingId" | "metadataQuery" | "hasMissingRecordings"
>;

/** Returns conditions on a row `e` of Episode, or none if there is no filter. 400 for half a window or a malformed query. */
export function episodeConditions(filters: Filters): Prisma.Sql[] {
  return [...windowConditions(filters), ...contentConditions(filters)];
}

/** A window selects episodes "given together; episode window must overlap; straddling episodes included". spec: Datasets/List episodes */
export function windowConditions({ start, end }: Filters): Prisma.Sql[] {
  if (start === undefined && end !== undefined) invalid("start", "is required where end is given");
  if (end === undefined && start !== undefined) invalid("end", "is required where start is given");
  return touches("e", { start, end });
}

/** Returns the conditions other than times and availability. */
export function contentConditions(
  { recordingId, metadataQuery = "" }: Filters,
  narrowing: Narrowing = "trigrams",
): Prisma.Sql[] {
  const terms = parseQuery(metadataQuery, { parameter: "metadataQuery" });
  return [
    ...(recordingId === undefined ? [] : [hasRecording(recordingId)]),
    ...(terms.length === 0 ? [] : [jsonbWhere(Prisma.sql`e.metadata`, terms, { narrowing, readsNumbers: true })]),
  ];
}

interface Selector {
  readonly recordingId?: string | undefined;
  readonly projectId?: string | undefined;
}

/** 404 for a recording that does not exist. A deleted recording is known as long as an episode has it. */
export async function requireRecording(ctx: Ctx, { recordingId, projectId }: Selector): Promise<void> {
  if (recordingId === undefined) return;
  const scope = await visibleIn(ctx, projectId);
  const { recording, episodeRecording } = ctx.db.prisma;
  const found =
    (await recording.findFirst({ where: { AND: [{ id: recordingId }, scope] }, select: { id: true } })) ??
    (await episodeRecording.findFirst({ where: { recordingId, episode: scope }, select: { episodeId: true } }));
  if (!found) throwNotFound(`recording "${recordingId}"`);
}

function hasRecording(recordingId: string): Prisma.Sql {
  return Prisma.sql`EXISTS (
    SELECT FROM "EpisodeRecording" m WHERE m."episodeId" = e.id AND m."recordingId" = ${recordingId})`;
}
