import type { Client } from "@downlink/client";
import { api } from "@downlink/protocol";
import { recordingId } from "./recording-dataset.ts";
import type { Seeded } from "./seed.ts";
import { START_NS } from "./seed-sql.ts";

const BATCH = 2000;
const MEMBERS = 3;

export interface TimedWrite {
  readonly what: string;
  readonly ms: number;
}

/** Creates whole batches of new episodes, then the same ones again. */
export async function timeEpisodeWrites(client: Client, { projectId, counts }: Seeded): Promise<TimedWrite[]> {
  const episodes = Array.from({ length: BATCH }, (_, at) => ({
    recordings: Array.from({ length: MEMBERS }, (_, k) => recordingId(1 + ((at * 7 + k) % counts.recordings))),
    startTime: START_NS + BigInt(at),
    endTime: START_NS + 1_000_000_000n,
    metadata: { task: `task-${at % 20}`, run: `new-${at}`, success: at % 3 === 0, note: `made near gate ${at % 300}` },
  }));
  const time = async (what: string) => {
    const startedMs = performance.now();
    await client.call(api.episodes.getOrCreate, { projectId, episodes });
    return { what: `${BATCH} episodes of ${MEMBERS} recordings, ${what}`, ms: performance.now() - startedMs };
  };
  return [await time("new"), await time("as they are"), await time("as they are, again")];
}
