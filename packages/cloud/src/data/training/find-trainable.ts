import { MAX_TRAINING_EPISODES } from "@downlink/protocol";
import type { Ctx } from "../../calls/context/context.ts";
import { refuse } from "../../core/errors.ts";
import { findDataset, findVersion } from "../datasets/find-dataset.ts";

interface Ref {
  /** The dataset. */
  readonly id: string;
  readonly versionNumber: number;
}

/** Finds a version of a dataset that the caller may see. Refuses one with more episodes than a training set has. */
export async function findTrainable(ctx: Ctx, { id, versionNumber }: Ref) {
  const dataset = await findDataset(ctx, id);
  const version = await findVersion(ctx.db.prisma, dataset, versionNumber);
  if (version.episodeCount > MAX_TRAINING_EPISODES)
    refuse(
      "InvalidRequest",
      `the version has ${version.episodeCount} episodes, and a training set has ${MAX_TRAINING_EPISODES} at most`,
    );
  return { dataset, version };
}
