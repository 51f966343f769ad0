import { api, type CallInput } from "@downlink/protocol";
import { startCloud, type TestCloud } from "../../../testing/start-cloud.ts";
import { recordingItem, startAgent, type TestAgent } from "../../../testing/test-agent.ts";

export type EpisodeItem = CallInput<typeof api.episodes.getOrCreate>["episodes"][number];

export const SECOND = 1_000_000_000n;

/** Starts a control plane with one robot, and returns what tests of getting or creating episodes need. */
export async function startEpisodes(t: Parameters<typeof startCloud>[0]) {
  const cloud = await startCloud(t, { works: false });
  const { admin } = cloud;
  const robot = await startAgent(cloud, "robot");
  const { projectId } = await admin.call(api.devices.get, { nameOrId: "robot" });
  const ask = async (...episodes: (Partial<EpisodeItem> & object)[]) =>
    (await admin.call(api.episodes.getOrCreate, { projectId, episodes: episodes as EpisodeItem[] })).episodes;
  const askOne = async (item: Partial<EpisodeItem>) => (await ask(item))[0]!;
  const get = (id: string) => admin.call(api.episodes.get, { id, include: ["recordings"] });
  const membersOf = async (id: string) => (await get(id)).recordings!.map((member) => member.id);
  const mark = (start: bigint, end: bigint, deviceId = robot.deviceId) =>
    admin.call(api.events.create, { deviceId, start, end });
  return { cloud, admin, robot, projectId, ask, askOne, get, membersOf, mark, ...createRecorder(cloud, robot) };
}

interface Recorded {
  readonly agent?: TestAgent;
  readonly isImported?: boolean;
}

function createRecorder(cloud: TestCloud, robot: TestAgent) {
  const { prisma } = cloud.deps.db;
  let passedNs = 1_000_000n * SECOND;

  /** Returns a time after all that other tests have recorded. */
  function later(byNs: bigint): bigint {
    passedNs += byNs;
    return passedNs;
  }

  /** Makes new recordings of 10 s, one after another, sorted by start. */
  async function record(count: number, { agent = robot, isImported = true }: Recorded = {}) {
    const items = Array.from({ length: count }, () => recordingItem({ start: later(20n * SECOND) }));
    await agent.report(items);
    const where = { path: { in: items.map(({ path }) => path) } };
    if (isImported) await prisma.recording.updateMany({ where, data: { importStatus: "complete" } });
    return prisma.recording.findMany({ where, orderBy: { startNs: "asc" } });
  }

  const recordOne = async (recorded?: Recorded) => (await record(1, recorded))[0]!;
  return { prisma, later, record, recordOne };
}
