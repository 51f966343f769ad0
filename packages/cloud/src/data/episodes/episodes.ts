import type { api, Episode, Input } from "@downlink/protocol";
import type { Ctx } from "../../calls/context/context.ts";
import type { Handlers } from "../../calls/serve/handlers.ts";
import type { Complete } from "../../core/complete.ts";
import { refuse, throwNotFound } from "../../core/errors.ts";
import { FOREIGN_KEY_VIOLATION, sqlState } from "../../db/sql-state.ts";
import { withTransaction } from "../../db/transaction.ts";
import { visibleTo } from "../../organization/projects/find-project.ts";
import { readEpisodes } from "./episode-rows.ts";
import { findEpisode } from "./find-episode.ts";
import { getOrCreateEpisodes } from "./get-or-create.ts";
import { listEpisodes } from "./list-episodes.ts";

type Contract = typeof api.episodes;

export const episodes: Handlers<Contract> = {
  getOrCreate: getOrCreateEpisodes,
  list: listEpisodes,
  get: getEpisode,
  delete: deleteEpisode,
};

async function getEpisode(ctx: Ctx, { id, include }: Input<Contract["get"]>): Promise<Complete<Episode>> {
  await findEpisode(ctx, id);
  const [episode] = await readEpisodes(ctx, [id], [...include, "creationContext"]);
  return episode ?? throwNotFound(`episode ${id}`);
}

/** Versions of datasets keep their episodes, committed or not; the foreign key ensures that, whichever transaction comes first. */
async function deleteEpisode(ctx: Ctx, { id }: Input<Contract["delete"]>): Promise<{ success: true }> {
  const where = { AND: [{ id }, visibleTo(ctx)] };
  // It is a transaction of its own, even within that of the call, so that the dataset can be named after it has failed.
  const deleting = withTransaction(ctx.db, (tx) => tx.episode.deleteMany({ where }));
  const { count } = await deleting.catch(refuseMember(ctx, id));
  return count > 0 ? { success: true } : throwNotFound(`episode ${id}`);
}

function refuseMember({ db }: Ctx, id: string) {
  return async (error: unknown): Promise<never> => {
    if (sqlState(error) !== FOREIGN_KEY_VIOLATION) throw error;
    const dataset = await db.prisma.dataset.findFirst({ where: { members: { some: { episodeId: id } } } });
    return refuse(
      "Conflict",
      `episode ${id} is in ${dataset ? `dataset "${dataset.name}" (${dataset.id})` : "a dataset"}`,
    );
  };
}
