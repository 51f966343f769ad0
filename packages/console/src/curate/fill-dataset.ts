import { datasets, datasetVersions, episodes } from "@downlink/protocol";
import { client } from "../api/client.ts";
import { explainFailure } from "../api/failure.ts";
import { type EpisodeRequest, refusedPlaces } from "./episode-request.ts";
import { type EpisodeSource, requestEpisodes } from "./episode-source.ts";

export interface Filling {
  readonly projectId: string;
  readonly source: EpisodeSource;
  readonly datasetId: string;
  /** The message of the version; undefined leaves the episodes staged. */
  readonly commit: string | undefined;
}

export interface Filled {
  readonly added: number;
  readonly alreadyPresent: number;
  /** Events without an imported recording, of which no episode can be made. */
  readonly leftOut: number;
  readonly versionNumber: number | undefined;
}

/**
 * Makes episodes and adds them to a dataset, page after page, and commits them. Each step may be repeated after a failure: the same episodes
 * are found again, and those that are in the dataset already stay there once. `onDone` hears how many have been asked for.
 */
export async function fillDataset(
  filling: Filling,
  { signal, onDone }: { signal: AbortSignal; onDone: (done: number) => void },
): Promise<Filled> {
  const { projectId, source, datasetId: id } = filling;
  const sums = { added: 0, alreadyPresent: 0, leftOut: 0 };
  let done = 0;
  for await (const wanted of requestEpisodes(source, signal)) {
    const { ids, leftOut } = await makeEpisodes(projectId, wanted);
    const edit = ids.length > 0 ? await client.call(datasets.changeEpisodes, { id, add: ids }) : undefined;
    sums.added += edit?.added ?? 0;
    sums.alreadyPresent += edit?.alreadyPresent ?? 0;
    sums.leftOut += leftOut;
    done += wanted.length;
    onDone(done);
  }
  signal.throwIfAborted();
  const versionNumber = sums.added > 0 ? await commitAs(id, filling.commit) : undefined;
  return { ...sums, versionNumber };
}

async function commitAs(id: string, message: string | undefined): Promise<number | undefined> {
  if (message === undefined) return undefined;
  const { committed } = await client.call(datasetVersions.commit, { id, ...(message !== "" && { message }) });
  return committed.versionNumber;
}

/** Makes all that can be made: the service names the events that have no imported recording, and takes all others without them. */
async function makeEpisodes(projectId: string, wanted: EpisodeRequest[]): Promise<{ ids: string[]; leftOut: number }> {
  try {
    const { episodes: made } = await client.call(episodes.getOrCreate, { projectId, episodes: wanted });
    return { ids: made.map(({ id }) => id), leftOut: 0 };
  } catch (error) {
    const refused = refusedPlaces(explainFailure(error).details);
    if (refused.size === 0) throw error;
    const rest = wanted.filter((_, at) => !refused.has(at));
    const { ids, leftOut } = rest.length > 0 ? await makeEpisodes(projectId, rest) : { ids: [], leftOut: 0 };
    return { ids, leftOut: leftOut + wanted.length - rest.length };
  }
}
