import { api, type Device, type Session, type Site } from "@downlink/protocol";
import { newId } from "../db/ids.ts";
import type { TestCloud } from "./start-cloud.ts";

export const DAY_NS = 86_400_000_000_000n;
export const LAST_TIME_NS = 2n ** 63n - 1n;

interface Owners {
  readonly orgId: string;
  readonly projectId: string;
  /** The devices b, a and c. */
  readonly devices: readonly Device[];
  readonly primarySite: Site;
  /** The edge sites e1 and e2. */
  readonly edgeSites: readonly Site[];
  /** The sessions have the keys `Prüf/stand` and `run 2`. */
  readonly sessions: readonly Session[];
}

export type StoredRecording = ReturnType<typeof recordingRow> & { readonly topic: string };

/** Stores recordings that differ in everything that a list can filter or sort by, with their owners. */
export async function storeRecordings(cloud: TestCloud): Promise<Owners & { stored: StoredRecording[] }> {
  const { prisma } = cloud.deps.db;
  const owners = await createOwners(cloud);
  const stored = spans().map((span, i) => ({ ...recordingRow(owners, span, i), topic: topicOf(i) }));
  await prisma.recording.createMany({ data: stored.map(({ topic: _, ...row }) => row) });
  const facts = {
    messageEncoding: "cdr",
    schemaName: "T",
    schemaEncoding: "ros2msg",
    schemaSha256: "",
    messageCount: 1n,
  };
  await prisma.recordingTopic.createMany({
    data: stored.flatMap(({ id, topic }, i) =>
      ["v1", "v2"].slice(i % 2).map((version) => ({ recordingId: id, topic, version, ...facts })),
    ),
  });
  await prisma.$executeRaw`ANALYZE "Recording", "RecordingTopic"`; // the planner chooses the way to a page by the matches that it expects
  return { ...owners, stored };
}

async function createOwners({ admin, deps }: TestCloud): Promise<Owners> {
  const devices = await Promise.all(["b", "a", "c"].map((name) => admin.call(api.devices.create, { name })));
  const edgeSites = await Promise.all(["e1", "e2"].map((name) => admin.call(api.sites.create, { name, type: "edge" })));
  const primarySite = (await admin.call(api.sites.list, {})).find(({ type }) => type === "service-hosted")!;
  const keys = ["Prüf/stand", "run 2"];
  const sessions = await Promise.all(
    keys.map((key) => admin.call(api.sessions.create, { key, deviceId: devices[0]!.id })),
  );
  const { projectId } = devices[0]!;
  const { orgId } = await deps.db.prisma.project.findUniqueOrThrow({ where: { id: projectId } });
  return { orgId, projectId, devices, primarySite, edgeSites, sessions };
}

/** Makes spans in all relations to each other, some equal, some instants, some of a day and more, the last ones at the end of time. */
function spans(): { startNs: bigint; endNs: bigint }[] {
  const short = Array.from({ length: 120 }, (_, i) => {
    const startNs = BigInt((i * 37) % 100);
    return { startNs, endNs: startNs + BigInt((i % 5) * 4) };
  });
  const long = [DAY_NS - 1n, DAY_NS, DAY_NS + 1n, 3n * DAY_NS].flatMap((length) => [
    { startNs: 50n - length, endNs: 50n },
    { startNs: 50n, endNs: 50n + length },
    { startNs: 20n - length, endNs: 20n },
  ]);
  const last = [LAST_TIME_NS, LAST_TIME_NS - 1n].map((timeNs) => ({ startNs: timeNs, endNs: timeNs }));
  return [...short, ...long, ...last, { startNs: 0n, endNs: LAST_TIME_NS }];
}

const statuses = ["complete", "none", "complete", "failed", "pending", "complete", "importing", "none"] as const;

function recordingRow(owners: Owners, { startNs, endNs }: { startNs: bigint; endNs: bigint }, i: number) {
  const importStatus = statuses[i % statuses.length]!;
  const isImported = importStatus === "complete";
  return {
    id: newId("rec"),
    orgId: owners.orgId,
    projectId: owners.projectId,
    deviceId: i % 4 === 3 ? null : owners.devices[i % 4]!.id,
    sessionId: i % 8 === 0 ? owners.sessions[(i / 8) % 2]!.id : null,
    siteId: isImported ? owners.primarySite.id : null,
    edgeSiteId: i % 7 === 0 ? owners.edgeSites[(i / 7) % 2]!.id : null,
    path: pathOf(i),
    sizeBytes: BigInt(i),
    startNs,
    endNs,
    durationNs: endNs - startNs,
    key: i % 2 === 0 ? `key/${i} %` : null,
    format: "mcap" as const,
    messageCount: 1n,
    metadata: metadataOf(i),
    createdAtNs: BigInt((i * 13) % 20),
    importStatus,
    importedAtNs: isImported ? BigInt((i * 7) % 10) : null,
    importId: isImported ? newId("imp") : null,
    isEdge: !isImported,
  };
}

/** Some paths agree in their first 200 characters; for some the order of characters differs between UTF-8 and UTF-16. */
function pathOf(i: number): string {
  const long = "überlang/".repeat(30);
  return [`runs/${i % 10}.mcap`, `${long}${i % 3}`, `${long}${i}`, "\u{1F916}.mcap", "\uFF5E.mcap"][i % 5]!;
}

function metadataOf(i: number) {
  const run = { name: "run", metadata: { operator: i % 3 === 0 ? "ann" : "Bob B.", number: String(i) } };
  return i % 6 === 0 ? [run, { name: "vehicle", metadata: { map: "Köln", operator: "cem" } }] : [run];
}

function topicOf(i: number): string {
  return i % 9 === 0 ? "/rare" : `/topic/${i % 2}`;
}
