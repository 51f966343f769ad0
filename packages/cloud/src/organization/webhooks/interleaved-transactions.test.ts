import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api } from "@downlink/protocol";
import { eventually } from "@downlink/recordings/testing";
import { newId } from "../../db/ids.ts";
import { withTransaction } from "../../db/transaction.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { startReceiver } from "./testing/receiver.ts";

const cloud = await startCloud({ after }, { environment: { DOWNLINK_WEBHOOK_NETWORKS: "127.0.0.0/8" } });
const { admin, deps } = cloud;
const { id: projectId } = await admin.call(api.projects.create, { name: "field" });
const { orgId } = await deps.db.prisma.project.findUniqueOrThrow({ where: { id: projectId } });

const firstMs = Date.now();
let events = 0;

/** Writes an event with the next outbox id, and returns the function that commits it. */
async function writeLate(deviceId: string) {
  const written = Promise.withResolvers<void>();
  const { promise: committing, resolve: commit } = Promise.withResolvers<void>();
  const id = newId("whev", firstMs + events++); // ids of the same millisecond have no order
  const about = { orgId, projectId, type: "device.updated", occurredAtNs: deps.clock.nowNs() };
  const committed = withTransaction(deps.db, async (tx) => {
    await tx.outboxEvent.create({ data: { id, ...about, payload: { device: { id: deviceId } } } });
    written.resolve();
    await committing;
  });
  await Promise.race([written.promise, committed]);
  return async () => {
    commit();
    await committed;
  };
}

test("no event is skipped when a slower transaction commits after one with a later outbox id; each is delivered exactly once", async (t) => {
  const receiver = await startReceiver(t);
  const { id } = await admin.call(api.webhooks.create, {
    name: "receiver",
    url: receiver.url,
    eventTypes: ["device.updated"],
  });
  const devicesReceived = () => receiver.received.map(({ event }) => (event.device as { id: string }).id);
  const received = (count: number) =>
    eventually(
      async () => devicesReceived(),
      ({ length }) => length >= count,
    );
  const commitSlower = await writeLate("slower");
  await (await writeLate("faster"))();
  assert.deepEqual(await received(1), ["faster"], "the sender has passed the later id by");
  await commitSlower();
  assert.deepEqual(await received(2), ["faster", "slower"]);
  await (await writeLate("last"))();
  assert.deepEqual(await received(3), ["faster", "slower", "last"]);
  const deliveries = await eventually(
    () => admin.call(api.webhooks.listDeliveries, { id }),
    (all) => all.every(({ state }) => state === "delivered"),
  );
  assert.deepEqual(
    deliveries.map(({ attempts }) => attempts),
    [1, 1, 1],
  );
  const idOf = (device: string) => receiver.received[devicesReceived().indexOf(device)]!.event.webhookEventId;
  assert.deepEqual(
    deliveries.map((delivery) => delivery.id),
    ["last", "faster", "slower"].map(idOf),
    "the slower transaction wrote the earlier id",
  );
});
