import { api } from "@downlink/protocol";
import type { TestCloud } from "../../../testing/start-cloud.ts";
import { recordingItem, startAgent } from "../../../testing/test-agent.ts";

export interface TestEpisode {
  readonly start: bigint;
  readonly end: bigint;
  readonly metadata: Readonly<Record<string, string>>;
  /** The index of its recording: the first one is imported, the second one is only at the edge. */
  readonly recording: 0 | 1;
}

export interface MadeEpisodes {
  readonly projectId: string;
  readonly recordingIds: readonly [string, string];
  /** The ids in the order of the requested episodes. */
  readonly ids: readonly string[];
}

/** Creates episodes of two recordings of a new device, in batches with one time of creation each. */
export async function makeEpisodes(
  cloud: TestCloud,
  batches: readonly (readonly TestEpisode[])[],
): Promise<MadeEpisodes> {
  const { prisma } = cloud.deps.db;
  const agent = await startAgent(cloud, "robot");
  const items = [recordingItem(), recordingItem()];
  await agent.report(items);
  const found = await prisma.recording.findMany({ where: { path: { in: items.map(({ path }) => path) } } });
  const recordingIds = items.map((item) => found.find(({ path }) => path === item.path)!.id) as [string, string];
  await prisma.recording.update({ where: { id: recordingIds[0] }, data: { importStatus: "complete" } });
  const { projectId } = found[0]!;
  const ids: string[] = [];
  for (const batch of batches) {
    const episodes = batch.map(({ start, end, metadata, recording }) => ({
      ...{ startTime: start, endTime: end, metadata, recordings: [recordingIds[recording]] },
    }));
    const answer = await cloud.admin.call(api.episodes.getOrCreate, { projectId, episodes });
    ids.push(...answer.episodes.map(({ id }) => id));
  }
  return { projectId, recordingIds, ids };
}
