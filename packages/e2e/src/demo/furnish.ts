import type { Client } from "@downlink/client";
import { api, type Recording } from "@downlink/protocol";
import { makeBag, makeMcap, type TopicSpec } from "@downlink/recordings/testing";
import { request } from "undici";
import type { ControlPlane } from "../processes/control-plane.ts";
import { reportYears } from "./report-year.ts";
import { say } from "./say.ts";
import { waitWhileRunning } from "./wait-for.ts";

const SECOND_NS = 1_000_000_000n;
const DAY_NS = 86_400n * SECOND_NS;
const FLEET = ["rover-2", "rover-3", "picker-1"];
const RUNS = 6;
/** Between two uploads of a robot. Together they take up the year. */
const APART_DAYS = 61;

export interface Furnishing {
  readonly projectId: string;
  readonly topics: readonly TopicSpec[];
  /** The end of the year in which everything was recorded. */
  readonly endNs: bigint;
}

/**
 * Gives the console something to show beside the robot: three robots whose recordings were uploaded over a year, four that only reported
 * theirs, imports that failed, marked events, a dataset with two versions, and one
 * to train with.
 */
export async function furnish(cloud: ControlPlane, { projectId, topics, endNs }: Furnishing): Promise<void> {
  const client = cloud.admin;
  await reportYears(cloud, projectId, endNs);
  say(
    `seven more robots: four that only reported a year of recordings, and ${FLEET.length * RUNS} recordings of three`,
  );
  for (const [at, deviceName] of FLEET.entries())
    for (let run = 0; run < RUNS; run++) {
      const agoSeconds = BigInt((run * APART_DAYS + at * 7) * 86_400 + 60 + at * 60);
      const { bytes, suffix } = await makeRun(run, { startNs: endNs - agoSeconds * SECOND_NS, topics });
      await upload(client, { filename: `${deviceName}/run-${RUNS - run}.${suffix}`, deviceName, projectId }, bytes);
    }
  const broken = Buffer.from("this is no recording");
  await upload(client, { filename: "rover-3/broken.mcap", deviceName: "rover-3", projectId }, broken);
  const cut = (await makeMcap({ topics, startNs: endNs - 3n * DAY_NS, durationSeconds: 9 })).slice(0, -60_000);
  await upload(client, { filename: "rover-2/cut.mcap", deviceName: "rover-2", projectId }, cut);
  const countDone = (all: readonly Recording[]) =>
    all.filter(({ device }) => FLEET.includes(device?.name ?? "")).length;
  const waitFor = waitWhileRunning({ "the control plane": cloud.program });
  const all = await waitFor(() => client.call(api.recordings.list, { importStatus: ["complete"] }), {
    isWanted: (found) => countDone(found) === FLEET.length * RUNS,
    describe: (found) => `${countDone(found)} of ${FLEET.length * RUNS} uploads are imported`,
  });
  await curate(client, all);
}

const COMPRESSIONS = ["zstd", "lz4", ""] as const;

/** Every fourth is a bag; the others differ in length and compression, and have a calibration attached. */
async function makeRun(
  run: number,
  { startNs, topics }: { readonly startNs: bigint; readonly topics: readonly TopicSpec[] },
): Promise<{ bytes: Uint8Array; suffix: "mcap" | "bag" }> {
  const durationSeconds = 10 + run * 4;
  if (run % 4 === 3) return { bytes: await makeBag({ startNs, durationSeconds }), suffix: "bag" };
  const data = Buffer.from("image_width: 640\nimage_height: 480\n");
  const attachments = [{ name: "calibration.yaml", mediaType: "text/yaml", data }];
  const compression = COMPRESSIONS[run % COMPRESSIONS.length]!;
  return { bytes: await makeMcap({ topics, startNs, durationSeconds, compression, attachments }), suffix: "mcap" };
}

interface Upload {
  readonly filename: string;
  readonly deviceName: string;
  readonly projectId: string;
}

async function upload(client: Client, { filename, deviceName, projectId }: Upload, body: Uint8Array): Promise<void> {
  const { link } = await client.call(api.uploads.create, { filename, deviceName, projectId });
  const headers = { "content-type": "application/octet-stream" };
  const answer = await request(link, { method: "PUT", headers, body });
  await answer.body.dump();
}

/** Two kinds of events, episodes of each of them, and a dataset that had one of these more before. */
async function curate(client: Client, recordings: readonly Recording[]): Promise<void> {
  const reason = { resourceType: "event", key: "reason", label: "Reason", valueType: "enum" } as const;
  const property = await client.call(api.customProperties.create, {
    ...reason,
    enumValues: ["estop", "fall", "blocked"],
  });
  const customProperties = [{ id: property.id, required: false }];
  const stop = await client.call(api.eventTypes.create, { name: "stop", colorName: "red", customProperties });
  const eventIds: string[] = [];
  for (const [at, { device, start, projectId }] of recordings.filter(({ device }) => device).entries()) {
    const startNs = start + 3n * SECOND_NS;
    const times = { start: startNs, end: startNs + 2n * SECOND_NS };
    const properties = { reason: ["estop", "fall", "blocked"][at % 3]! };
    const given = { deviceId: device!.id, projectId, ...times, eventTypeId: stop.id, properties };
    const event = await client.call(api.events.create, { ...given, metadata: { operator: "ann" } });
    eventIds.push(event.id);
  }
  const { projectId } = recordings[0]!;
  const asked = eventIds.slice(0, 6).map((eventId) => ({ eventId, metadata: { task: "stop" } }));
  const { episodes } = await client.call(api.episodes.getOrCreate, { projectId, episodes: asked });
  const episodeIds = episodes.map(({ id }) => id);
  const { id } = await client.call(api.datasets.create, { projectId, name: "stops", episodeIds });
  await client.call(api.datasetVersions.commit, { id });
  await client.call(api.datasets.changeEpisodes, { id, remove: episodeIds.slice(0, 1) });
  await collectLaps(client, recordings);
}

const LAPS = 20;
const LAP_NS = 4n * SECOND_NS;

/** A dataset that a training set can be built of: episodes with a camera, of four seconds each, two of a recording. */
async function collectLaps(client: Client, recordings: readonly Recording[]): Promise<void> {
  const drives = recordings.filter(({ device, path }) => FLEET.includes(device?.name ?? "") && path.endsWith(".mcap"));
  const asked = drives.slice(0, LAPS / 2).flatMap(({ id, start }) =>
    [start + SECOND_NS, start + SECOND_NS + LAP_NS].map((startTime) => {
      const times = { startTime, endTime: startTime + LAP_NS };
      return { recordings: [id], ...times, metadata: { task: "drive through the yard" } };
    }),
  );
  const { projectId } = drives[0]!;
  const { episodes } = await client.call(api.episodes.getOrCreate, { projectId, episodes: asked });
  const episodeIds = episodes.map(({ id }) => id);
  const { id } = await client.call(api.datasets.create, { projectId, name: "laps", episodeIds });
  await client.call(api.datasetVersions.commit, { id, message: "for the first policy" });
}
