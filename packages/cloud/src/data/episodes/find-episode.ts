import type { Ctx } from "../../calls/context/context.ts";
import { throwNotFound } from "../../core/errors.ts";
import type { Prisma } from "../../db/generated/client.ts";
import { visibleTo } from "../../organization/projects/find-project.ts";

const columns = {
  id: true,
  projectId: true,
  startNs: true,
  endNs: true,
  recordings: { select: { recordingId: true }, orderBy: [{ startNs: "asc" }, { recordingId: "asc" }] },
} as const satisfies Prisma.EpisodeSelect;

/** Finds an episode with its span, both ends inclusive, and its recordings, of which some may be gone; 404 if the caller may not see it. */
export async function findEpisode(ctx: Ctx, id: string) {
  const where = { AND: [{ id }, visibleTo(ctx)] };
  const row = await ctx.db.prisma.episode.findFirst({ where, select: columns });
  if (!row) throwNotFound(`episode ${id}`);
  const { recordings, ...episode } = row;
  return { ...episode, recordingIds: recordings.map(({ recordingId }) => recordingId) };
}
