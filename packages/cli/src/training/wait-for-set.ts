import { ApiCallError } from "@downlink/client";
import { api, formatTimestamp, type TrainingSet } from "@downlink/protocol";
import { countOf, formatBytes } from "@downlink/terminal/amounts";
import { RefusedError } from "../failures/failures.ts";
import { pause } from "../failures/pause.ts";
import { showLine } from "../files/progress.ts";
import type { Service } from "../login/open-service.ts";

const FIRST_LOOK_MS = 200;
const LAST_LOOK_MS = 2000;

/**
 * Waits until a set is built, with a line of progress on a terminal. Says how to fetch the set where the waiting ends before. Throws
 * {@link RefusedError} for a set that failed, or has expired.
 */
export async function waitForSet(
  { client, signal }: Service,
  first: TrainingSet,
  notes: NodeJS.WriteStream,
): Promise<TrainingSet> {
  const { id } = first;
  using line = showLine(notes);
  let set = first.state === "building" ? first : await client.call(api.trainingSets.get, { id });
  try {
    for (let lookMs = FIRST_LOOK_MS; set.state === "building"; lookMs = Math.min(LAST_LOOK_MS, lookMs * 2)) {
      const { episodesDone, episodeCount, bytes } = set.progress;
      line.show(`${episodesDone} of ${countOf(episodeCount, "episode")}, ${formatBytes(bytes)}`);
      await pause(lookMs, signal);
      set = await client.call(api.trainingSets.get, { id });
    }
  } catch (error) {
    line.end();
    if (!(error instanceof ApiCallError))
      notes.write(`dl: the service goes on building ${id}; dl training-set pull ${id} -o DIR fetches it\n`);
    throw error;
  }
  return requireReady(set);
}

function requireReady(set: TrainingSet): TrainingSet {
  const { id, state, failure, expiresAt } = set;
  if (state === "failed") throw new RefusedError(`${id} could not be built: ${failure}`);
  if (state === "expired")
    throw new RefusedError(
      `${id} expired at ${formatTimestamp(expiresAt)}; dl training-set create builds such a set again`,
    );
  return set;
}
