import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { after, test } from "node:test";
import { api, TrainingMapping, webhookEvents, webhookEventTypes } from "@downlink/protocol";
import { eventually, makeMcap } from "@downlink/recordings/testing";
import { Webhook } from "standardwebhooks";
import { z } from "zod";
import { noteOffline } from "../../edge/standing/note-offline.ts";
import { markDamaged } from "../../import-life/mark-damaged.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { recordingItem, startAgent } from "../../testing/test-agent.ts";
import { createRunningClock } from "../../testing/test-clock.ts";
import { uploadFile } from "../../testing/upload-file.ts";
import { startReceiver } from "./testing/receiver.ts";

const SIX_MINUTES_NS = 360_000_000_000n;
const time = createRunningClock();
const cloud = await startCloud(
  { after },
  {
    clock: time,
    environment: { DOWNLINK_WEBHOOK_NETWORKS: "127.0.0.0/8" },
  },
);
const { admin } = cloud;
const { id: deviceId, projectId } = await admin.call(api.devices.create, { name: "robot" }); // before anybody is to hear of it
const agent = await startAgent(cloud, "filming");
const receiver = await startReceiver({ after });
const registered = await admin.call(api.webhooks.create, {
  name: "all",
  url: receiver.url,
  eventTypes: [...webhookEventTypes],
});
/** The standard's own library checks each signature. Its tolerance is for real time, which these tests leave. */
const oracle = new Webhook(registered.secret);

/** Does something, and returns the one event of the type that it causes. */
async function eventOf(type: string, change: () => Promise<unknown>) {
  const of = () => receiver.received.filter(({ event }) => event.type === type);
  const before = of().length;
  await change();
  await eventually(
    async () => of(),
    (all) => all.length > before,
  );
  const [one, ...more] = of().slice(before);
  assert.deepEqual(more, [], "it comes once");
  return one!.event;
}

test("device.created and device.updated", async () => {
  const made: { id?: string } = {};
  const create = async () => Object.assign(made, await admin.call(api.devices.create, { name: "another" }));
  assert.partialDeepStrictEqual(await eventOf("device.created", create), { device: { id: made.id }, projectId });
  const rename = () => admin.call(api.devices.update, { nameOrId: made.id!, name: "renamed" });
  assert.partialDeepStrictEqual(await eventOf("device.updated", rename), { device: { id: made.id }, projectId });
});

test("event.created and event.updated", async () => {
  const made: { id?: string } = {};
  const create = async () => Object.assign(made, await admin.call(api.events.create, { deviceId, start: 1n, end: 2n }));
  assert.partialDeepStrictEqual(await eventOf("event.created", create), { event: { id: made.id }, projectId });
  const change = () => admin.call(api.events.update, { id: made.id!, metadata: { a: "b" } });
  assert.partialDeepStrictEqual(await eventOf("event.updated", change), { event: { id: made.id }, projectId });
});

test("session.created", async () => {
  const made: { id?: string } = {};
  const create = async () => Object.assign(made, await admin.call(api.sessions.create, { deviceId, key: "drive" }));
  const session = { id: made.id, key: "drive", device: { id: deviceId, name: "robot" } };
  const event = await eventOf("session.created", create);
  assert.partialDeepStrictEqual(event, { session: { ...session, id: made.id }, projectId });
});

test("recording.created and recording.imported of one upload, recording.damaged and recording.deleted", async () => {
  const made: { id?: string } = {};
  const upload = async () => {
    const { recordingId } = await uploadFile(cloud, await makeMcap(), { deviceId, filename: "a.mcap", key: "a" });
    made.id = recordingId!;
  };
  const recording = { key: "a", path: "a.mcap", importStatus: "complete", device: { id: deviceId, name: "robot" } };
  const imported = await eventOf("recording.imported", upload);
  assert.partialDeepStrictEqual(imported, { recording: { ...recording, id: made.id } });
  assert.ok((imported.recording as { site?: { id?: string } }).site?.id);
  assert.equal(receiver.typesReceived().filter((type) => type === "recording.created").length, 1);
  const { blobKey } = await cloud.deps.db.prisma.recording.findUniqueOrThrow({ where: { id: made.id! } });
  const lose = async () => {
    await cloud.deps.blobs.delete(blobKey!);
    await markDamaged(cloud.deps, blobKey!, "missing");
  };
  const lost = await eventOf("recording.damaged", lose);
  assert.partialDeepStrictEqual(lost, { recording: { id: made.id }, damage: { reason: "missing" } });
  const remove = () => admin.call(api.recordings.delete, { keyOrId: made.id! });
  assert.partialDeepStrictEqual(await eventOf("recording.deleted", remove), { recording: { id: made.id } });
});

test("recording.importFailed", async () => {
  const upload = () => uploadFile(cloud, new TextEncoder().encode("no recording"), { deviceId, filename: "b.mcap" });
  const event = await eventOf("recording.importFailed", upload);
  assert.ok(event.requestId && event.code && event.error);
});

test("dataset.committed", async () => {
  await agent.report([recordingItem()]);
  const [recording] = await admin.call(api.recordings.list, { deviceId: agent.deviceId });
  const item = { recordings: [recording!.id], metadata: {} };
  const { episodes } = await admin.call(api.episodes.getOrCreate, { projectId, episodes: [item] });
  const { id } = await admin.call(api.datasets.create, {
    projectId,
    name: "dataset",
    episodeIds: episodes.map((episode) => episode.id),
  });
  const event = await eventOf("dataset.committed", () => admin.call(api.datasetVersions.commit, { id }));
  assert.partialDeepStrictEqual(event, { projectId, dataset: { id } });
});

test("trainingSet.ready and trainingSet.failed", async () => {
  const file = { deviceId, filename: "train.mcap" };
  const { recordingId } = await uploadFile(cloud, await makeMcap({ durationSeconds: 1, seed: 7 }), file);
  const item = { recordings: [recordingId!], metadata: { task: "pick" } };
  const { episodes } = await admin.call(api.episodes.getOrCreate, { projectId, episodes: [item] });
  const dataset = { projectId, name: "train", episodeIds: episodes.map((episode) => episode.id) };
  const { id } = await admin.call(api.datasets.create, dataset);
  await admin.call(api.datasetVersions.commit, { id });
  const build = async (name: string, topic: string) => {
    const features = { x: { dtype: "float32", parts: [{ topic, field: "angular_velocity" }] } };
    const mapping = TrainingMapping.parse({ fps: 10, minFrames: 1, features });
    const { id: mappingId } = await admin.call(api.datasetMappings.create, { id, name, mapping });
    return admin.call(api.trainingSets.create, { id, versionNumber: 1, mappingId });
  };
  const ready = await eventOf("trainingSet.ready", () => build("imu", "/imu"));
  assert.partialDeepStrictEqual(ready, { projectId, trainingSet: { datasetId: id, versionNumber: 1 } });
  const failed = await eventOf("trainingSet.failed", () => build("none", "/none"));
  assert.match(String(failed.error), /no message of \/none/);
});

test("device.offline", async () => {
  time.aheadNs += SIX_MINUTES_NS;
  const event = await eventOf("device.offline", () => noteOffline(cloud.deps));
  assert.partialDeepStrictEqual(event, { device: { id: agent.deviceId, name: "filming" }, projectId });
});

test("webhook.disabled", async (t) => {
  const gone = await startReceiver(t, (response) => void response.writeHead(410).end());
  const { id } = await admin.call(api.webhooks.create, { name: "gone", url: gone.url, eventTypes: ["device.created"] });
  const event = await eventOf("webhook.disabled", () => admin.call(api.webhooks.ping, { id }));
  assert.deepEqual(event.webhook, { id, name: "gone", disabledReason: "the receiver answered 410 Gone" });
});

test("ping", async () => {
  const event = await eventOf("ping", () => admin.call(api.webhooks.ping, { id: registered.id }));
  assert.partialDeepStrictEqual(event, { webhook: { id: registered.id }, webhookId: registered.id });
});

test("every event type was received, each event once, signed as the standard and as the specification say", () => {
  assert.deepEqual([...new Set(receiver.typesReceived())].sort(), [...webhookEventTypes, "ping"].sort());
  const ids = receiver.received.map(({ event }) => event.webhookEventId);
  assert.equal(new Set(ids).size, ids.length);
  for (const { headers, body, event } of receiver.received) {
    const at = new Date(Number(headers["webhook-timestamp"]) * 1000);
    const signed = oracle.sign(event.webhookEventId, at, body);
    assert.equal(headers["webhook-signature"], signed);
    assert.equal(headers["webhook-id"], event.webhookEventId);
    const ofBody = createHmac("sha256", registered.secret).update(body).digest("hex");
    assert.equal(headers["x-webhook-signature"], ofBody);
    const { webhookId, eventId, webhookEventId, attemptedAt, deliveryAttemptedAt } = event;
    assert.deepEqual([webhookId, eventId, attemptedAt], [registered.id, webhookEventId, deliveryAttemptedAt]);
    assert.match(String(event.timestamp), /^\d{4}-\d\d-\d\dT.*Z$/);
  }
});

test("every body is what the contract, and with it the OpenAPI document, says of its type, and no field more", () => {
  for (const { event } of receiver.received) {
    const { body } = webhookEvents[event.type as keyof typeof webhookEvents];
    assert.deepEqual(z.encode(body, z.decode(body, event)), event);
  }
});
