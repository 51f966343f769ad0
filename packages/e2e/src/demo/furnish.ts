import type { Client } from "@downlink/client";
import { api, type Recording } from "@downlink/protocol";
import { makeMcap } from "@downlink/recordings/testing";
import { request } from "undici";
import { eventually } from "../processes/eventually.ts";

const HOUR_NS = 3_600_000_000_000n;
const SECOND_NS = 1_000_000_000n;
const FLEET = ["rover-2", "rover-3", "picker-1"];
const RUNS = 4;

/**
 * Gives the console something to show beside the robot: a fleet whose recordings were uploaded, an import that failed, marked events, and
 * a dataset with two versions.
 */
export async function furnish(client: Client, { projectId, start }: Recording): Promise<void> {
  for (const [at, deviceName] of FLEET.entries())
    for (let run = 0; run < RUNS; run++) {
      const startNs = start + BigInt(run * 5 + at) * HOUR_NS;
      const bytes = await makeMcap({ startNs, durationSeconds: 20 + run * 10, compression: "zstd" });
      await upload(client, { filename: `${deviceName}/run-${run + 1}.mcap`, deviceName, projectId }, bytes);
    }
  const broken = Buffer.from("this is no recording");
  await upload(client, { filename: "rover-3/broken.mcap", deviceName: "rover-3", projectId }, broken);
  const isDone = (all: readonly Recording[]) => all.filter(({ device }) => FLEET.includes(device?.name ?? "")).length;
  const all = await eventually(
    () => client.call(api.recordings.list, { importStatus: ["complete"] }),
    (found) => isDone(found) === FLEET.length * RUNS,
  );
  await curate(client, all);
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
}
