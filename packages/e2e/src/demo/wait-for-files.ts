import type { Client } from "@downlink/client";
import { api, type EdgeFile, type Recording } from "@downlink/protocol";
import type { WaitFor } from "./wait-for.ts";

export interface Found {
  readonly recordings: readonly Recording[];
  readonly others: readonly EdgeFile[];
}

/** Waits until the cloud has the right state of each of so many files. */
export async function waitForFiles(client: Client, waitFor: WaitFor, count: number): Promise<Found> {
  const ask = async (): Promise<Found> => ({
    recordings: await client.call(api.recordings.list, { sortBy: "path" }),
    others: await client.call(api.edgeFiles.list, {}),
  });
  const settledOf = ({ recordings, others }: Found) =>
    recordings.length + others.filter(({ state }) => state !== "settling").length;
  return await waitFor(ask, {
    isWanted: (found) => settledOf(found) >= count && found.others.every(({ state }) => state !== "settling"),
    describe: (found) => `the agent has reported ${settledOf(found)} of ${count} files`,
  });
}
