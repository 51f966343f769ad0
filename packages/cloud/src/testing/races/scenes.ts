import { randomBytes } from "node:crypto";
import { api, type Device, type PropertyResourceType } from "@downlink/protocol";
import { newId } from "../../db/ids.ts";
import { startTestSite } from "../../site/site-work/testing/test-site.ts";
import { storeCut, storeMember, storeTrainingSet } from "../one-of-each.ts";
import type { TestCloud } from "../start-cloud.ts";
import { askForFile, brokenItem } from "../test-agent.ts";

/** Connected things, created for each run of operations that run at the same moment. */
export interface Scene {
  /** The ids by what stands before them in the path of an operation. */
  readonly paths: Readonly<Record<string, string>>;
  /** Values that name the things, or change them, by the field of a query or body. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** An agent with its lease. */
  readonly agent?: { readonly token: string; readonly lease: number };
  /** The process of a self-hosted site with its lease. */
  readonly site?: { readonly token: string; readonly lease: number };
  /** A device token that belongs to no device. */
  readonly enrolment?: string;
}

/** Together they have a thing for every operation that names one. The last scene creates projects. */
export const scenes: Readonly<Record<string, (cloud: TestCloud) => Promise<Scene>>> = {
  "an empty device": setDevice,
  "an event": setEvent,
  "an imported recording": setRecording,
  "a device with an agent": setAgent,
  "a self-hosted site": setSelfHostedSite,
  "an edge site": setEdgeSite,
  people: setPeople,
  "what an organization shares": setShared,
};

const past = { start: "2001-01-01T00:00:00Z", end: "2002-01-01T00:00:00Z" };
const md5 = `${"A".repeat(22)}==`;

async function setDevice(cloud: TestCloud): Promise<Scene> {
  const { admin } = cloud;
  const { id: deviceId, name: deviceName, projectId } = await addDevice(cloud);
  const { key } = await addProperty(cloud, "device");
  await admin.call(api.devices.update, { nameOrId: deviceId, properties: { [key]: "before" } });
  const [interval] = await admin.call(api.devices.listPropertyHistory, { nameOrId: deviceId });
  const token = await admin.call(api.deviceTokens.create, { deviceId });
  const unassociated = await admin.call(api.deviceTokens.create, { projectId });
  return {
    paths: {
      "/v1/devices": deviceId,
      "/v1/actions/devices": deviceId,
      "/v1/devices/{nameOrId}/property-time-intervals": interval!.id,
      "/v1/device-tokens": token.id,
    },
    fields: {
      ...{ name: newId("dev"), deviceId, deviceName, key, value: "then", ...past, properties: { [key]: "after" } },
      ...{ tokenSha256: sha256(), enrolmentId: sha256(), resourceId: deviceId },
    },
    enrolment: unassociated.token!,
  };
}

async function setEvent(cloud: TestCloud): Promise<Scene> {
  const { admin } = cloud;
  const { id: deviceId } = await addDevice(cloud);
  const property = await addProperty(cloud, "event");
  const customProperties = [{ id: property.id, required: false }];
  const { id: eventTypeId } = await admin.call(api.eventTypes.create, { name: property.key, customProperties });
  const event = await admin.call(api.events.create, { deviceId, start: 1n, end: 2n });
  const properties = { [property.key]: "after" };
  await cloud.deps.db.prisma.savedView.deleteMany(); // A key may have two hundred, and each of these scenes saves one.
  const view = await admin.call(api.savedViews.create, { name: "view", path: "/devices", query: "" });
  return {
    paths: {
      "/v1/events": event.id,
      "/v1/saved-views": view.id,
      "/v1/event-types": eventTypeId,
      "/v1/custom-properties": property.id,
      "/v1/devices": deviceId,
    },
    fields: {
      ...{ name: newId("evtt"), key: `${property.key}-2`, enumValues: undefined, properties, ...past },
      ...{ deviceId, eventId: event.id, eventTypeId, customProperties },
    },
  };
}

async function setRecording(cloud: TestCloud): Promise<Scene> {
  const { admin } = cloud;
  const device = await addDevice(cloud);
  const { id: deviceId, projectId } = device;
  const { recordingId, recordingKey, importId, attachmentId } = await storeImported(cloud, device);
  const recordingIds = [recordingId];
  const session = await admin.call(api.sessions.create, { key: newId("sess"), recordingIds });
  const times = [1n, 2n, 3n].map((endTime) => ({ recordings: recordingIds, startTime: 0n, endTime }));
  const made = await admin.call(api.episodes.getOrCreate, { projectId, episodes: times });
  const [committed, staged, episodeId] = made.episodes.map(({ id }) => id) as [string, string, string];
  const dataset = await admin.call(api.datasets.create, { projectId, name: newId("ds"), episodeIds: [committed] });
  await admin.call(api.datasetVersions.commit, { id: dataset.id });
  await admin.call(api.datasets.changeEpisodes, { id: dataset.id, add: [staged] });
  const training = await storeTrainingSet(cloud, { id: dataset.id, name: newId("map") });
  await cloud.deps.db.prisma.viewLink.deleteMany(); // A key may have a hundred links, and each of these scenes and its operations create some.
  const view = await admin.call(api.viewLinks.create, { recordingId });
  const { upload } = await admin.call(api.partUploads.create, { filename: "b.mcap", size: 1, deviceId });
  return {
    paths: {
      "/v1/data/uploads": upload!.requestId,
      "/v1/recordings": recordingId,
      "/v1/view-links": view.id,
      "/v1/recording-attachments": attachmentId,
      "/v1/data/imports": importId,
      "/v1/sessions": session.id,
      "/v1/episodes": episodeId,
      "/v1/datasets": dataset.id,
      "/v1/datasets/{id}/versions": "1",
      "/v1/datasets/{id}/mappings": training.mappings,
      "/v1/training-sets": training["training-sets"],
      "/v1/devices": deviceId,
    },
    fields: {
      ...{ projectId, deviceId, recordingId, recordingKey, importId, id: [importId] },
      ...{ episodeId, episodes: [{ recordings: recordingIds }], episodeIds: [episodeId], force: true },
      ...{ sessionId: session.id, sessionKey: session.key, recordingIds },
      ...{ name: newId("ds"), key: newId("sess"), ...past, topics: [], mappingId: training.mappings },
      ...{ addRecordingIds: recordingIds, removeRecordingIds: [], add: [episodeId], remove: [staged], version: "1" },
    },
  };
}

async function setAgent(cloud: TestCloud): Promise<Scene> {
  const { admin } = cloud;
  const { agent, item, recordingId, requestId, version } = await askForFile(cloud, newId("dev"));
  const { deviceId, token, hello } = agent;
  await agent.report([brokenItem({ state: "incomplete", salvage: { start: 1n, end: 2n } })]);
  const [file] = await admin.call(api.edgeFiles.list, { deviceId });
  await admin.call(api.edgeFiles.salvage, { id: file!.id });
  const { salvages } = (await agent.call(api.edge.work, {})).work;
  const { uploadId } = await agent.call(api.edge.openUpload, version);
  const [ownToken] = await admin.call(api.deviceTokens.list, { deviceId });
  const { versionId, size } = item;
  const device = await admin.call(api.devices.get, { nameOrId: deviceId });
  const cutId = await storeCut(cloud, device, { id: recordingId });
  return {
    paths: {
      "/v1/recordings/{keyOrId}/cuts": cutId,
      "/v1/edge/cuts": cutId,
      "/v1/devices": deviceId,
      "/v1/device-tokens": ownToken!.id,
      "/v1/recordings": recordingId,
      "/v1/data/pending-imports": requestId,
      "/v1/edge-files": file!.id,
      "/v1/edge/imports": requestId,
      "/v1/edge/imports/{requestId}/upload": uploadId,
      "/v1/edge/salvages": salvages[0]!.requestId,
    },
    fields: {
      ...{ deviceId, recordingId, requestId, versionId, versionIds: [versionId], size },
      ...{ modifiedAt: "1970-01-01T00:00:05Z", items: [{ versionId, reason: "space", sha256: sha256() }] },
      ...{ sequence: 3, upserts: [], removals: [versionId], schemas: [], name: newId("dev"), ...past },
      ...{
        number: 1,
        length: size,
        parts: [{ number: 1, md5, length: size }],
        pieces: [{ offset: 0, length: size, md5 }],
      },
    },
    agent: { token, lease: hello.lease },
  };
}

async function setEdgeSite({ admin }: TestCloud): Promise<Scene> {
  const { id: siteId } = await admin.call(api.sites.create, { name: newId("site"), type: "edge" });
  const { id: tokenId } = await admin.call(api.siteTokens.create, { siteId });
  const fields = { name: newId("site"), siteId, type: "edge", edgeSiteId: siteId, url: undefined };
  return { paths: { "/v1/sites": siteId, "/v1/site-tokens": tokenId }, fields };
}

async function setSelfHostedSite(cloud: TestCloud): Promise<Scene> {
  const { admin } = cloud;
  const { siteId, token, hello, storeFile } = await startTestSite(cloud, newId("site"));
  const { id: tokenId } = await admin.call(api.siteTokens.create, { siteId });
  const { id: inboxTokenId } = await admin.call(api.inboxTokens.create, { siteId });
  const device = await addDevice(cloud);
  const { id: deviceId } = device;
  const { requestId } = await admin.call(api.uploads.create, { filename: "a.mcap", deviceId, siteId });
  const key = await storeFile(requestId, new Uint8Array(10));
  const importId = await storeSplit(cloud, device, siteId);
  const selectionId = newId("exp");
  return {
    paths: {
      ...{ "/v1/sites": siteId, "/v1/site-tokens": tokenId, "/v1/site-inbox-notification-tokens": inboxTokenId },
      ...{ "/v1/site/imports": requestId, "/v1/site/selections": selectionId, "/v1/site/lakes": importId },
    },
    fields: {
      ...{ name: newId("site"), siteId, type: "self-hosted", retainRecordingsSeconds: undefined, wait: 0 },
      stored: [{ requestId, key, size: 10 }],
      begun: [{ requestId, attempt: 1 }],
      failed: [{ requestId, attempt: 1, code: "BadChunk", text: "damaged" }],
      ...{ removed: [key], savedKeyIds: hello.keys.map(({ id }) => id), attempt: 1, number: 1, isLast: true, data: "" },
    },
    site: { token, lease: hello.lease },
  };
}

async function setPeople(cloud: TestCloud): Promise<Scene> {
  const { admin } = cloud;
  const name = newId("mem").slice(4);
  const memberId = await storeMember(cloud, { client: admin, name });
  const { id: invitationId } = await admin.call(api.invitations.create, { email: `${name}@invited.example` });
  const { id: apiKeyId } = await cloud.deps.db.prisma.apiKey.findFirstOrThrow();
  const [id, nowNs] = [newId("sess"), cloud.deps.clock.nowNs()];
  const times = { createdAtNs: nowNs, lastUsedAtNs: nowNs, expiresAtNs: nowNs + 3_600_000_000_000n };
  await cloud.deps.db.prisma.signInSession.create({ data: { id, tokenSha256: id, apiKeyId, ...times } });
  return {
    paths: { "/v1/members": memberId, "/v1/invitations": invitationId, "/v1/me/sessions": id },
    fields: { memberIds: [memberId], role: "user" },
  };
}

async function setShared(cloud: TestCloud): Promise<Scene> {
  const { admin } = cloud;
  const permission = "ORG_WRITE";
  const layout = await admin.call(api.layouts.create, { name: "shared", permission, data: {} });
  const [project] = await admin.call(api.projects.list, {});
  const key = await admin.call(api.apiKeys.create, { name: "spare", capabilities: ["devices.list"] });
  // An organization may have 100 webhooks, and more scenes than that are set, each with one.
  for (const { id } of await admin.call(api.webhooks.list, {})) await admin.call(api.webhooks.delete, { id });
  const url = "https://example.org/hooks";
  const webhook = await admin.call(api.webhooks.create, { name: "shared", url, eventTypes: ["dataset.committed"] });
  const ping = await admin.call(api.webhooks.ping, { id: webhook.id });
  return {
    paths: {
      "/v1/layouts": layout.id,
      "/v1/webhooks": webhook.id,
      "/v1/webhooks/{id}/deliveries": ping.id,
      "/v1/projects": project!.id,
      "/v1/api-keys": key.id,
      "/v1/extensions": await storeExtension(cloud),
    },
    fields: { name: newId("prj"), id: newId("ext"), data: {}, permission },
  };
}

function addDevice({ admin }: TestCloud): Promise<Device> {
  return admin.call(api.devices.create, { name: newId("dev") });
}

function addProperty({ admin }: TestCloud, resourceType: PropertyResourceType) {
  const key = newId("cp").slice(0, 30);
  return admin.call(api.customProperties.create, { key, label: "race", resourceType, valueType: "string" });
}

/** Stores what an import leaves, but without the bytes. */
async function storeImported({ deps }: TestCloud, { orgId, projectId, id: deviceId }: Device) {
  const { prisma } = deps.db;
  const site = await prisma.site.findFirstOrThrow({ where: { orgId, type: "service-hosted" } });
  const ids = {
    recordingId: newId("rec"),
    importId: newId("imp"),
    attachmentId: newId("att"),
    recordingKey: newId("rec"),
  };
  const of = { orgId, projectId, deviceId, siteId: site.id };
  const file = { format: "mcap", sizeBytes: 1n, startNs: 1n, endNs: 2n, importedAtNs: 1n } as const;
  const { recordingId, importId, recordingKey: key } = ids;
  const about = { path: "a.mcap", key, durationNs: 1n, messageCount: 1n, metadata: [], createdAtNs: 1n, isEdge: false };
  const stored = { importStatus: "complete", importId, blobKey: `${orgId}/${recordingId}` } as const;
  await prisma.recording.create({ data: { id: recordingId, ...of, ...file, ...about, ...stored } });
  await prisma.import.create({ data: { id: importId, recordingId, filename: "a.mcap", ...of, ...file } });
  const sizes = { crc: 0n, dataOffset: 0n, sizeBytes: 0n, logTimeNs: 1n, createTimeNs: 1n };
  const named = { id: ids.attachmentId, recordingId, name: "a", mediaType: "a" };
  await prisma.recordingAttachment.create({ data: { ...named, ...of, ...sizes } });
  return ids;
}

/** Stores what an import leaves at a site that makes files by topic. */
async function storeSplit(cloud: TestCloud, device: Device, siteId: string): Promise<string> {
  const { prisma } = cloud.deps.db;
  const { recordingId, importId } = await storeImported(cloud, device);
  await prisma.site.update({ where: { id: siteId }, data: { indexingStrategy: "split-files" } });
  const siteObjectKey = `${device.orgId}/${newId("upl")}`;
  await prisma.recording.update({ where: { id: recordingId }, data: { siteId, siteObjectKey, blobKey: null } });
  return importId;
}

async function storeExtension({ deps }: TestCloud): Promise<string> {
  const { prisma } = deps.db;
  const { id: orgId } = await prisma.organization.findFirstOrThrow();
  const id = newId("ext");
  const names = { publisher: id, name: id, identity: id, displayName: id };
  await prisma.extension.create({ data: { id, orgId, ...names, createdAtNs: 1n, updatedAtNs: 1n } });
  return id;
}

function sha256(): string {
  return randomBytes(32).toString("hex");
}
