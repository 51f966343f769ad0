import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { after, test } from "node:test";
import { api } from "@downlink/protocol";
import { eventually } from "@downlink/recordings/testing";
import { newId } from "../../db/ids.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { startReceiver } from "./testing/receiver.ts";
import { MOST_AT_ONCE, WebhookSender } from "./webhook-sender.ts";

const ROUNDS = 3;
const cloud = await startCloud({ after }, { environment: { DOWNLINK_WEBHOOK_NETWORKS: "127.0.0.0/8" } });
const { admin, deps } = cloud;
const { orgId } = await admin.call(api.me.get, {});
type EventType = "device.created" | "device.updated";

const register = async (url: string, type: EventType) =>
  (await admin.call(api.webhooks.create, { name: type, url, eventTypes: [type] })).id;

async function publish(type: EventType, count: number): Promise<void> {
  const about = { orgId, type, payload: {}, occurredAtNs: deps.clock.nowNs() };
  await deps.db.prisma.outboxEvent.createMany({
    data: Array.from({ length: count }, () => ({ id: newId("whev"), ...about })),
  });
}

test("at most four deliveries of a webhook are under way at once, also of two processes that send", async (t) => {
  await using _another = new WebhookSender(deps);
  const open = new Set<ServerResponse>();
  let mostOpen = 0;
  const slow = await startReceiver(t, (response) => {
    open.add(response);
    mostOpen = Math.max(mostOpen, open.size);
    response.once("close", () => open.delete(response));
  });
  const quick = await startReceiver(t);
  const id = await register(slow.url, "device.updated");
  await register(quick.url, "device.created");
  await publish("device.updated", ROUNDS * MOST_AT_ONCE);
  for (let round = 1; round <= ROUNDS; round++) {
    await eventually(
      async () => open.size,
      (size) => size >= MOST_AT_ONCE,
    );
    await publish("device.created", 1);
    await eventually(
      async () => quick.received.length,
      (length) => length === round,
    );
    assert.equal(open.size, MOST_AT_ONCE, "the slow receiver gets no more while others get theirs");
    for (const response of open) {
      open.delete(response);
      response.writeHead(204).end();
    }
  }
  const deliveries = await eventually(
    () => admin.call(api.webhooks.listDeliveries, { id }),
    (all) => all.every(({ state }) => state === "delivered"),
  );
  assert.deepEqual([mostOpen, slow.received.length, deliveries.length], [4, 12, 12]);
});
