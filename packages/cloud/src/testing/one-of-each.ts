import type { Client } from "@downlink/client";
import { api, type Device, type Recording } from "@downlink/protocol";
import { newId } from "../db/ids.ts";
import type { TestCloud } from "./start-cloud.ts";
import { brokenItem, recordingItem, startAgent } from "./test-agent.ts";

interface Owner {
  readonly client: Client;
  /** A part of the names, keys, paths and texts of all of them. */
  readonly name: string;
  /** Absent: the only project of the client's organization. */
  readonly projectId?: string;
}

/** One of everything that has an id in the API; the ids by the path segment before them. */
export type OneOfEach = Readonly<Record<string, string>>;

export async function makeOneOfEach(cloud: TestCloud, owner: Owner): Promise<OneOfEach> {
  const ofProject = await makeInProject(cloud, owner);
  const ofOrganization = await makeInOrganization(cloud, { ...owner, siteId: ofProject.sites });
  return Object.fromEntries(
    await Promise.all(
      Object.entries({ ...ofProject, ...ofOrganization }).map(async ([kind, id]) => [kind, await id] as const),
    ),
  );
}

const idOf = ({ id }: { readonly id: string }): string => id;

async function makeInProject(cloud: TestCloud, { client, name, projectId }: Owner) {
  const agent = await startAgent({ ...cloud, admin: client }, `${name}-robot`, projectId);
  const { deviceId } = agent;
  const key = `${name}-key`;
  await agent.report([recordingItem({ path: `${name}-run.mcap`, key }), brokenItem({ path: `${name}-broken.mcap` })]);
  const device = await client.call(api.devices.get, { nameOrId: deviceId });
  const [[recording], [file]] = await Promise.all([
    client.call(api.recordings.list, { deviceId }),
    client.call(api.edgeFiles.list, { deviceId }),
  ]);
  const site = { name: `${name}-plant`, type: "self-hosted", projectIds: projectId ? [projectId] : [] } as const;
  const { id: sites } = await client.call(api.sites.create, site);
  const upload = client.call(api.uploads.create, { filename: `${name}-upload`, deviceId });
  const event = { deviceId, start: 1n, end: 2n, metadata: { whose: `${name}-event` } };
  return {
    projects: device.projectId,
    devices: deviceId,
    "device-tokens": client.call(api.deviceTokens.create, { deviceId }).then(idOf),
    events: client.call(api.events.create, event).then(idOf),
    sessions: client.call(api.sessions.create, { deviceId, key: `${name}-drive` }).then(idOf),
    recordings: recording!.id,
    cuts: storeCut(cloud, device, recording!),
    "edge-files": file!.id,
    ...(await makeEpisode(cloud, client, { device, recording: recording!, name })),
    "pending-imports": upload.then(({ requestId }) => requestId),
    uploads: upload.then(({ requestId }) => storeUpload(cloud, requestId)),
    ...(await storeImport(cloud, { device, recording: recording!, siteId: sites, name })),
    "view-links": storeViewLink(cloud, device, name),
    sites,
  };
}

interface Made {
  readonly device: Device;
  readonly recording: Recording;
  readonly name: string;
}

async function makeEpisode(cloud: TestCloud, client: Client, { device: { projectId }, recording, name }: Made) {
  const item = { recordings: [recording.id], metadata: { whose: `${name}-episode` } };
  const { episodes } = await client.call(api.episodes.getOrCreate, { projectId, episodes: [item] });
  const { id } = episodes[0]!;
  const dataset = await client.call(api.datasets.create, { projectId, name: `${name}-dataset`, episodeIds: [id] });
  await client.call(api.datasetVersions.commit, { id: dataset.id });
  return { episodes: id, datasets: dataset.id, ...(await storeTrainingSet(cloud, { id: dataset.id, name })) };
}

/** Stores a training set as if it had just been built. */
export async function storeTrainingSet({ deps }: TestCloud, { id: datasetId, name }: { id: string; name: string }) {
  const { prisma } = deps.db;
  const { orgId, projectId } = await prisma.dataset.findUniqueOrThrow({ where: { id: datasetId } });
  const features = { [`${name}-feature`]: { dtype: "float32", parts: [{ topic: "/text" }] } };
  const text = JSON.stringify({ fps: 30, features });
  const of = { orgId, datasetId, createdAtNs: 1n };
  const mapping = { id: newId("map"), ...of, name: `${name}-mapping`, revision: 1, text, sha256: "" };
  await prisma.datasetMapping.create({ data: mapping });
  const made = {
    versionNumber: 1,
    mappingId: mapping.id,
    format: "lerobot-v3",
    identity: name,
    leavesOut: false,
  } as const;
  const set = { id: newId("ts"), ...of, projectId, ...made, episodeCount: 1, expiresAtNs: 2n ** 62n };
  const file = { path: "downlink.json", sizeBytes: 1n, sha256: "", blobKey: `${orgId}/${newId("tf")}` };
  await prisma.trainingSet.create({ data: { ...set, state: "ready", files: { create: file } } });
  return { mappings: mapping.id, "training-sets": set.id };
}

/** Stores a part as if it had just been asked for. */
export async function storeCut(
  { deps }: TestCloud,
  { orgId, id: deviceId }: Pick<Device, "orgId" | "id">,
  { id: wholeId }: Pick<Recording, "id">,
): Promise<string> {
  const agent = await deps.db.prisma.agent.findUniqueOrThrow({ where: { deviceId } });
  const part = { topics: ["/text"], startNs: 1n, endNs: 2n };
  const asked = { priority: 0, requestedBy: { kind: "apiKey", id: "key", name: "key" }, state: "requested" } as const;
  const of = { id: newId("cut"), orgId, wholeId, agentId: agent.id, versionId: "version-0000-0001" };
  const data = { ...of, ...part, ...asked, createdAtNs: 1n, updatedAtNs: 1n };
  return (await deps.db.prisma.cut.create({ data })).id;
}

/** Stores what an import leaves. */
async function storeImport({ deps }: TestCloud, { device, recording, siteId, name }: Made & { siteId: string }) {
  const { orgId, projectId } = device;
  const owner = { orgId, projectId, recordingId: recording.id, siteId };
  const about = {
    filename: `${name}-imported`,
    format: "mcap",
    sizeBytes: 1n,
    importedAtNs: 1n,
    startNs: 1n,
    endNs: 2n,
  } as const;
  const sizes = { crc: 0n, dataOffset: 0n, sizeBytes: 0n, logTimeNs: 1n, createTimeNs: 1n };
  const facts = { name: `${name}-calibration`, mediaType: `${name}-type`, ...sizes };
  const [imported, attachment] = await Promise.all([
    deps.db.prisma.import.create({ data: { id: newId("imp"), ...owner, ...about } }),
    deps.db.prisma.recordingAttachment.create({ data: { id: newId("att"), ...owner, ...facts } }),
  ]);
  return { imports: imported.id, "recording-attachments": attachment.id };
}

/** Stores an upload in parts as if it had just been begun, of a request that is there. */
async function storeUpload({ deps }: TestCloud, requestId: string): Promise<string> {
  const { orgId } = await deps.db.prisma.importRequest.findUniqueOrThrow({ where: { id: requestId } });
  const id = newId("upl");
  const sizes = { sizeBytes: 1n, partSizeBytes: 1n };
  const times = { createdAtNs: deps.clock.nowNs(), updatedAtNs: deps.clock.nowNs() };
  const of = { id, orgId, requestId, kind: "parts", blobKey: `${orgId}/${id}`, state: "open" } as const;
  await deps.db.prisma.upload.create({ data: { ...of, ...sizes, ...times } });
  return requestId;
}

/** Stores a link as if it had just been made. */
async function storeViewLink({ deps }: TestCloud, { orgId, projectId }: Device, name: string): Promise<string> {
  const { id: apiKeyId } = await deps.db.prisma.apiKey.findFirstOrThrow({ where: { orgId } });
  const nowNs = deps.clock.nowNs();
  const about = { makerName: `${name}-maker`, fileName: `${name}-view.mcap`, recordingCount: 1 };
  const times = { createdAtNs: nowNs, expiresAtNs: nowNs + 600_000_000_000n };
  const data = { id: newId("view"), orgId, projectId, apiKeyId, selection: new Uint8Array(), ...about, ...times };
  return (await deps.db.prisma.viewLink.create({ data })).id;
}

async function makeInOrganization(cloud: TestCloud, { client, name, projectId, siteId }: Owner & { siteId: string }) {
  const projectIds = projectId ? [projectId] : [];
  const property = { key: name, label: name, valueType: "string", resourceType: "event" } as const;
  const webhook = { name, url: `https://${name}.example.org`, eventTypes: ["device.created" as const], projectId };
  const layout = { name, permission: "ORG_WRITE", data: {} } as const;
  const key = { name: `${name}-key`, capabilities: ["devices.list" as const], projectIds };
  return {
    "api-keys": client.call(api.apiKeys.create, key).then(idOf),
    "custom-properties": client.call(api.customProperties.create, property).then(idOf),
    "event-types": client.call(api.eventTypes.create, { name, customProperties: [] }).then(idOf),
    "site-tokens": client.call(api.siteTokens.create, { siteId }).then(idOf),
    "site-inbox-notification-tokens": client.call(api.inboxTokens.create, { siteId }).then(idOf),
    extensions: storeExtension(cloud, { client, name }),
    layouts: client.call(api.layouts.create, layout).then(idOf),
    invitations: client.call(api.invitations.create, { email: `${name}@invited.example` }).then(idOf),
    members: storeMember(cloud, { client, name }),
    webhooks: client.call(api.webhooks.create, webhook).then(idOf),
  };
}

/** Stores a member as if a person had accepted an invitation. */
export async function storeMember({ deps }: TestCloud, { client, name }: Owner): Promise<string> {
  const { orgId } = await client.call(api.me.get, {});
  const [id, createdAtNs] = [newId("mem"), deps.clock.nowNs()];
  const account = { create: { id: newId("acc"), email: `${name}@member.example`, createdAtNs } };
  await deps.db.prisma.member.create({
    data: { id, org: { connect: { id: orgId } }, account, role: "user", createdAtNs },
  });
  return id;
}

async function storeExtension({ deps }: TestCloud, { client, name }: Owner): Promise<string> {
  const [device] = await client.call(api.devices.list, { limit: 1 });
  const named = { publisher: name, name, identity: `${name}.${name}`, displayName: name };
  const stamps = { createdAtNs: 1n, updatedAtNs: 1n };
  const data = { id: newId("ext"), orgId: device!.orgId, ...named, ...stamps };
  return (await deps.db.prisma.extension.create({ data })).id;
}
