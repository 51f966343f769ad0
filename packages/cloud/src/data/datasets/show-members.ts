import type { DatasetEpisode } from "@downlink/protocol";
import type { Ctx } from "../../calls/context/context.ts";
import type { Complete } from "../../core/complete.ts";
import { type EpisodeInclude, readEpisodes } from "../episodes/episode-rows.ts";

/** The fields of a row of DatasetMember that lists show. */
export interface Member {
  /** The id of the episode. */
  readonly id: string;
  readonly addedIn: number;
  readonly addedAtNs: bigint;
}

/** Answers the members in their order. A member that was taken back meanwhile, and whose episode was deleted, is left out. */
export async function showMembers(
  ctx: Ctx,
  members: readonly Member[],
  include: EpisodeInclude,
): Promise<Complete<DatasetEpisode>[]> {
  const ids = members.map(({ id }) => id);
  const [episodes, missing] = await Promise.all([readEpisodes(ctx, ids, include), readMissing(ctx, ids)]);
  const byId = new Map(members.map((member) => [member.id, member]));
  return episodes.map((episode) => {
    const { addedAtNs, addedIn } = byId.get(episode.id)!;
    const hasMissingRecordings = missing.get(episode.id) ?? false;
    return { addedAt: addedAtNs, addedInVersion: addedIn, hasMissingRecordings, episode };
  });
}

/** The query asks about all of them, not only about those that miss some, because for those the planner would not use the index by id. */
async function readMissing({ db }: Ctx, ids: readonly string[]): Promise<Map<string, boolean>> {
  const where = { episodeId: { in: [...ids] } };
  const rows = await db.prisma.episodeAvailability.findMany({ where, select: { episodeId: true, hasMissing: true } });
  return new Map(rows.map(({ episodeId, hasMissing }) => [episodeId, hasMissing]));
}
