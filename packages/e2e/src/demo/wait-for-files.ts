import type { Client } from "@downlink/client";
import { api, type EdgeFile, type Recording } from "@downlink/protocol";
import { eventually } from "@downlink/recordings/testing";
import type { Program } from "../processes/program.ts";

export interface Found {
  readonly recordings: readonly Recording[];
  readonly others: readonly EdgeFile[];
}

/** Waits until the cloud has the right state of every file. */
export async function waitForFiles(
  client: Client,
  { count, agent }: { count: number; agent: Program },
): Promise<Found> {
  let end: unknown;
  void agent.ended.then((code) => {
    end = code;
  });
  const ask = async (): Promise<Found> => {
    if (end !== undefined) throw new Error(`the agent ended with ${end}:\n${agent.output()}`);
    return {
      recordings: await client.call(api.recordings.list, { sortBy: "path" }),
      others: await client.call(api.edgeFiles.list, {}),
    };
  };
  return eventually(ask, ({ recordings, others }) => {
    const isSettled = others.every(({ state }) => state !== "settling");
    return isSettled && recordings.length + others.length >= count;
  });
}
