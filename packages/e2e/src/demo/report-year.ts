import { createHash, randomUUID } from "node:crypto";
import { createClient } from "@downlink/client";
import { undiciTransport } from "@downlink/client/node";
import { api, type EdgeItem, edgeLimits, LEASE_HEADER } from "@downlink/protocol";
import { seededRandom } from "@downlink/recordings/testing";
import type { ControlPlane } from "../processes/control-plane.ts";

const SECOND_NS = 1_000_000_000n;
const DAY_NS = 86_400n * SECOND_NS;
const DAYS = 365;
const ROBOTS = ["rover-4", "rover-5", "picker-2", "drone-1"];
/** So many of the first one's are asked for, and wait for it. */
const REQUESTED = 5;
const BYTES_PER_SECOND = 1_500_000;

/**
 * Robots that reported a year of recordings, about two on most days, and have been silent since: none of their files is here. They speak the
 * protocol of the agents, so that the pages show what a fleet of agents would show.
 */
export async function reportYears({ url, admin }: ControlPlane, projectId: string, endNs: bigint): Promise<void> {
  for (const [at, name] of ROBOTS.entries()) {
    const { id: deviceId } = await admin.call(api.devices.create, { name, projectId });
    const { token } = await admin.call(api.deviceTokens.create, { deviceId });
    await reportAll({ url, token: token!, name }, yearOf(at + 1, endNs));
  }
  const [deviceName] = ROBOTS;
  const newest = await admin.call(api.recordings.list, {
    ...{ deviceName: deviceName!, projectId, limit: REQUESTED },
    ...{ sortBy: "start", sortOrder: "desc" },
  });
  await admin.call(api.importRequests.create, { recordingIds: newest.map(({ id }) => id) });
}

interface Robot {
  readonly url: string;
  readonly token: string;
  readonly name: string;
}

async function reportAll({ url, token, name }: Robot, items: readonly EdgeItem[]): Promise<void> {
  await using transport = undiciTransport();
  const greeting = createClient({ baseUrl: url, token, transport });
  const { lease } = await greeting.call(api.edge.hello, {
    agentVersion: "0.1.0",
    instanceId: randomUUID(),
    machineId: sha256(name).slice(0, 32),
    host: { hostname: name, platform: "linux", arch: "arm64" },
    inventory: { count: 0, digest: sha256("") },
    clock: BigInt(Date.now()) * 1_000_000n,
  });
  const agent = createClient({ baseUrl: url, token, transport, headers: { [LEASE_HEADER]: String(lease) } });
  const listing = { id: randomUUID(), count: items.length };
  for (let from = 0, sequence = 1; from < items.length; from += edgeLimits.itemsPerReport, sequence += 1) {
    const upserts = items.slice(from, from + edgeLimits.itemsPerReport);
    const isLast = from + upserts.length === items.length;
    await agent.call(api.edge.report, { sequence, upserts, listing: { ...listing, isLast } });
  }
  const disk = { totalBytes: 512e9, freeBytes: 40e9 };
  await agent.call(api.edge.status, { files: { reported: items.length }, disk, problems: [] });
}

/** Drives of 5 to 65 minutes, of which the last one has just ended; one in forty was cut off. */
function yearOf(seed: number, endNs: bigint): EdgeItem[] {
  const random = seededRandom(seed);
  const items: EdgeItem[] = [];
  for (let day = DAYS - 1; day >= 0; day--)
    for (let drive = Math.floor(random() * 4); drive > 0; drive--) {
      const agoSeconds = drive * 7000 + Math.floor(random() * 3000);
      const startNs = endNs - BigInt(day) * DAY_NS - BigInt(agoSeconds) * SECOND_NS;
      items.push(toItem({ startNs, seconds: 300 + Math.floor(random() * 3600), isCut: random() < 1 / 40 }));
    }
  const seconds = 600 + seed * 300;
  items.push(toItem({ startNs: endNs - BigInt(seconds) * SECOND_NS, seconds, isCut: false }));
  return items;
}

interface Drive {
  readonly startNs: bigint;
  readonly seconds: number;
  readonly isCut: boolean;
}

function toItem({ startNs, seconds, isCut }: Drive): EdgeItem {
  const end = startNs + BigInt(seconds) * SECOND_NS;
  const began = new Date(Number(startNs / 1_000_000n)).toISOString();
  const file = {
    versionId: randomUUID(),
    path: `${began.slice(0, 10)}/drive-${began.slice(11, 16).replace(":", "")}.mcap`,
    size: seconds * BYTES_PER_SECOND,
    modifiedAt: end,
    headTailSha256: sha256(began),
  };
  const reason = { code: "NoEnd", text: "the file has no end: recording or copying it was cut off" };
  if (isCut) return { ...file, state: "incomplete", reason };
  const topics = [
    { topic: "/imu", schemaName: "sensor_msgs/msg/Imu", rateHz: 100 },
    { topic: "/camera/compressed", schemaName: "sensor_msgs/msg/CompressedImage", rateHz: 15 },
    { topic: "/fix", schemaName: "sensor_msgs/msg/NavSatFix", rateHz: 5 },
  ].map(({ rateHz, ...topic }) => ({
    ...topic,
    ...{ version: "1", encoding: "cdr", schemaEncoding: "ros2msg", schemaSha256: sha256(topic.schemaName) },
    ...{ messageCount: seconds * rateHz, start: startNs, end },
  }));
  const messageCount = topics.reduce((sum, topic) => sum + topic.messageCount, 0);
  const metadata = [{ name: "drive", metadata: { operator: seconds % 2 ? "ann" : "bob" } }];
  return {
    ...file,
    state: "indexed",
    format: "mcap",
    start: startNs,
    end,
    messageCount,
    metadata,
    attachments: [],
    topics,
  };
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
