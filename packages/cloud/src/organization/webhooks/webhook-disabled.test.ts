import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api, type CallInput, formatTimestamp } from "@downlink/protocol";
import { eventually } from "@downlink/recordings/testing";
import { startCloud } from "../../testing/start-cloud.ts";
import { recordAttempts } from "./record-attempts.ts";
import { type Receiver, startReceiver } from "./testing/receiver.ts";

const DAY_NS = 86_400n * 1_000_000_000n;
const cloud = await startCloud({ after }, { environment: { DOWNLINK_WEBHOOK_NETWORKS: "127.0.0.0/8" } });
const { admin, deps } = cloud;
const { db, clock } = deps;
/** No server listens there. */
const REFUSING = "http://127.0.0.1:9/";

type Body = CallInput<typeof api.webhooks.create>;
const register = (name: string, url: string, more: Partial<Body> = {}) =>
  admin.call(api.webhooks.create, { name, url, eventTypes: ["webhook.disabled"], ...more });
const namesSeenBy = ({ received }: Receiver) => received.map(({ event }) => (event.webhook as { name: string }).name);

/** Records an attempt that failed, as the sender does. */
function fail(id: string, nowNs: bigint, statusCode?: number) {
  const delivery = { eventId: "whev_x", retriesLeft: 5, url: REFUSING };
  return recordAttempts(db, { webhookId: id, nowNs, attempts: [{ delivery, statusCode, error: "ECONNREFUSED" }] });
}

/** Returns the only event that the receiver gets, and the time at which the audit log says that the webhook was disabled. */
async function disabledEvent(receiver: Receiver, id: string) {
  const [received] = await eventually(
    async () => receiver.received,
    ({ length }) => length > 0,
  );
  const entries = await admin.call(api.audit.list, { resourceId: id, operation: "webhooks.disable" });
  assert.equal(entries.length, 1);
  return { event: received!.event, disabledAt: formatTimestamp(entries[0]!.at) };
}

/** The parts of a body that an attempt makes. */
function madeAtSending({ webhookEventId, attemptedAt }: Record<string, unknown>) {
  return { webhookEventId, eventId: webhookEventId, attemptedAt, deliveryAttemptedAt: attemptedAt };
}

test("a webhook whose receiver answers 410 is disabled, and another webhook is sent webhook.disabled; itself it is not", async (t) => {
  const watching = await startReceiver(t);
  const gone = await startReceiver(t, (response) => void response.writeHead(410).end());
  const watcher = await register("watcher", watching.url);
  const { id } = await register("gone", gone.url);
  const off = await register("off", watching.url, { enabled: false });
  const indifferent = await register("indifferent", watching.url, { eventTypes: ["device.offline"] });
  await admin.call(api.webhooks.ping, { id });
  const { event, disabledAt } = await disabledEvent(watching, id);
  assert.deepEqual(event, {
    type: "webhook.disabled",
    timestamp: disabledAt,
    ...madeAtSending(event),
    webhookId: watcher.id,
    webhook: { id, name: "gone", disabledReason: "the receiver answered 410 Gone" },
  });
  const typesOf = async (of: string) =>
    (await admin.call(api.webhooks.listDeliveries, { id: of })).map(({ type }) => type);
  assert.deepEqual(await typesOf(id), ["ping"], "the disabled one is not sent its own event");
  assert.deepEqual(await Promise.all([off.id, indifferent.id].map(typesOf)), [[], []]);
  for (const one of [watcher, off, indifferent]) await admin.call(api.webhooks.delete, { id: one.id });
});

test("a webhook that failed for five days is published as disabled, to those of its project and those without one", async (t) => {
  const [whole, inside, outside] = await Promise.all([startReceiver(t), startReceiver(t), startReceiver(t)]);
  const { id: projectId } = await admin.call(api.projects.create, { name: "field" });
  const { id: elsewhere } = await admin.call(api.projects.create, { name: "elsewhere" });
  await register("whole", whole.url);
  const { id: insideId } = await register("inside", inside.url, { projectId });
  await register("outside", outside.url, { projectId: elsewhere });
  const { id } = await register("silent", REFUSING, { projectId, eventTypes: ["dataset.committed"] });
  await fail(id, clock.nowNs() - 5n * DAY_NS);
  const disabledReason = await fail(id, clock.nowNs());
  assert.equal(disabledReason, "every attempt failed for 5 days; the last one: ECONNREFUSED");
  const { event, disabledAt } = await disabledEvent(inside, id);
  assert.deepEqual(event, {
    type: "webhook.disabled",
    timestamp: disabledAt,
    ...madeAtSending(event),
    ...{ webhookId: insideId, projectId },
    webhook: { id, name: "silent", disabledReason },
  });
  const everywhere = await register("everywhere", REFUSING, { eventTypes: ["dataset.committed"] });
  await fail(everywhere.id, clock.nowNs(), 410);
  await eventually(
    async () => namesSeenBy(whole),
    ({ length }) => length === 2,
  );
  assert.deepEqual(namesSeenBy(whole).sort(), ["everywhere", "silent"]);
  assert.deepEqual([namesSeenBy(inside), namesSeenBy(outside)], [["silent"], []]);
});

test("a webhook is not disabled if its event cannot be written", async () => {
  const { id } = await register("kept", REFUSING, { eventTypes: ["dataset.committed"] });
  const { prisma } = db;
  await prisma.$executeRaw`ALTER TABLE "OutboxEvent" ADD CONSTRAINT closed CHECK ("type" <> 'webhook.disabled') NOT VALID`;
  await assert.rejects(fail(id, clock.nowNs(), 410));
  await prisma.$executeRaw`ALTER TABLE "OutboxEvent" DROP CONSTRAINT closed`;
  assert.equal((await admin.call(api.webhooks.get, { id })).enabled, true);
  assert.deepEqual(await admin.call(api.audit.list, { resourceId: id, operation: "webhooks.disable" }), []);
});
