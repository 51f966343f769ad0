import type { Ctx } from "../../calls/context/context.ts";
import { ApiError, throwNotFound } from "../../core/errors.ts";
import type { Prisma } from "../../db/generated/client.ts";
import type { RecordingModel } from "../../db/generated/models.ts";
import { visibleIn } from "../../organization/projects/find-project.ts";

interface RecordingRef {
  readonly keyOrId: string;
  readonly projectId?: string | undefined;
}

/** Finds a recording by id or key; the id wins. A key that is used in several projects needs `projectId`. */
export async function findRecording(ctx: Ctx, { keyOrId, projectId }: RecordingRef): Promise<RecordingModel> {
  const where = await visibleIn(ctx, projectId);
  const found = (await findById(ctx, where, keyOrId)) ?? (await findByKey(ctx, where, keyOrId));
  return found ?? throwNotFound(`recording "${keyOrId}"`);
}

interface RecordingSelector {
  readonly recordingId?: string | undefined;
  readonly recordingKey?: string | undefined;
  readonly projectId?: string | undefined;
}

/** Finds the recording that a query or body selects, by id or else by key; undefined if it selects none; 404 if it does not exist. */
export async function selectRecording(ctx: Ctx, selector: RecordingSelector): Promise<RecordingModel | undefined> {
  const { recordingId, recordingKey, projectId } = selector;
  if (!recordingId && !recordingKey) return undefined;
  const where = await visibleIn(ctx, projectId);
  const found = await (recordingId ? findById(ctx, where, recordingId) : findByKey(ctx, where, recordingKey!));
  return found ?? throwNotFound(`recording "${recordingId || recordingKey}"`);
}

type Where = Prisma.RecordingWhereInput;

function findById({ db }: Ctx, where: Where, id: string): Promise<RecordingModel | null> {
  return db.prisma.recording.findFirst({ where: { AND: [where, { id }] } });
}

/**
 * Copies of one file on several devices have the same key until they are imported: the imported one is returned, else the oldest. 400 if
 * recordings of several projects have the key.
 */
async function findByKey({ db }: Ctx, where: Where, key: string): Promise<RecordingModel | null> {
  const named = { AND: [where, { key }] };
  const found = await db.prisma.recording.findFirst({
    where: named,
    orderBy: [{ importedAtNs: { sort: "asc", nulls: "last" } }, { createdAtNs: "asc" }, { id: "asc" }],
  });
  if (!found) return null;
  const elsewhere = { AND: [named, { projectId: { not: found.projectId } }] };
  if (await db.prisma.recording.findFirst({ where: elsewhere, select: { id: true } }))
    throw new ApiError("AmbiguousName", `several projects have a recording with the key "${key}"; give projectId`);
  return found;
}
