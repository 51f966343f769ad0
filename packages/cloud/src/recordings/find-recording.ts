import type { Ctx } from "../context.ts";
import type { RecordingModel } from "../db/generated/models.ts";
import { ApiError, notFound } from "../http/errors.ts";
import { visibleIn } from "../projects/find-project.ts";

interface RecordingRef {
  readonly keyOrId: string;
  readonly projectId?: string | undefined;
}

/**
 * By id or key. Copies of one file on several devices carry the same key until they are imported:
 * the imported one is meant, else the oldest. A key in several projects needs `projectId`.
 */
export async function findRecording(ctx: Ctx, { keyOrId, projectId }: RecordingRef): Promise<RecordingModel> {
  const where = await visibleIn(ctx, projectId);
  const rows = await ctx.db.prisma.recording.findMany({
    where: { AND: [where, { OR: [{ id: keyOrId }, { key: keyOrId }] }] },
    orderBy: [{ importedAtNs: { sort: "asc", nulls: "last" } }, { createdAtNs: "asc" }, { id: "asc" }],
    take: 100,
  });
  const exact = rows.find((row) => row.id === keyOrId);
  if (exact) return exact;
  if (new Set(rows.map((row) => row.projectId)).size > 1)
    throw new ApiError("AmbiguousName", `several projects have a recording with the key "${keyOrId}"; give projectId`);
  return rows[0] ?? notFound(`recording "${keyOrId}"`);
}
