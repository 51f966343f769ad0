import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api } from "@downlink/protocol";
import { startCloud } from "../testing/start-cloud.ts";
import { eventually } from "../testing/test-agent.ts";
import { startReceiver } from "./testing/receiver.ts";

const cloud = await startCloud({ after }, { environment: { DOWNLINK_WEBHOOK_NETWORKS: "127.0.0.0/8" } });
const { admin, deps } = cloud;
const { orgId } = await admin.call(api.me.get, {});
const EVENTS = 1000;
const WELL = 15;
/** Nobody listens there. */
const REFUSING = "http://127.0.0.1:9/";

async function register(url: string): Promise<string> {
  return (await admin.call(api.webhooks.create, { name: url, url, eventTypes: ["device.updated"] })).id;
}

const receivers = await Promise.all(Array.from({ length: WELL }, () => startReceiver({ after })));
const ids = await Promise.all(receivers.map(({ url }) => register(url)));

/** Has the events occur, and returns how long it took until each receiver had all of them. */
async function send(round: string): Promise<number> {
  const before = receivers.map(({ received }) => received.length);
  const beganMs = performance.now();
  const data = Array.from({ length: EVENTS }, (_, at) => ({
    ...{ id: `whev_${round}_${at}`, orgId, type: "device.updated", payload: { at }, occurredAtNs: deps.clock.nowNs() },
  }));
  await deps.db.prisma.outboxEvent.createMany({ data });
  const ofRound = () => receivers.map(({ received }, at) => received.slice(before[at]));
  const least = async () => Math.min(...receivers.map(({ received }, at) => received.length - before[at]!));
  for (let reached = 0; reached < EVENTS; reached += 100) await eventually(least, (count) => count >= reached + 100);
  const tookMs = performance.now() - beganMs;
  for (const received of ofRound()) {
    const events = new Set(received.map(({ event }) => event.webhookEventId));
    assert.deepEqual([received.length, events.size], [EVENTS, EVENTS], "each event came, and came once");
  }
  return tookMs;
}

test("of 20 receivers 5 are dead: 1,000 events reach the other 15 nearly as soon as if there were only these", async (t) => {
  const aloneMs = await send("alone");
  const silent = await Promise.all([1, 2, 3].map(() => startReceiver(t, () => {})));
  const dead = await Promise.all([...silent.map(({ url }) => url), REFUSING, REFUSING].map(register));
  const besideMs = await send("beside");
  const perSecond = (ms: number) => Math.round((EVENTS * WELL * 1000) / ms);
  t.diagnostic(`deliveries a second: ${perSecond(aloneMs)} without dead receivers, ${perSecond(besideMs)} with 5`);
  assert.ok(besideMs < 3 * aloneMs, `${Math.round(besideMs)} ms after ${Math.round(aloneMs)} ms`);
  for (const id of dead) {
    const { failingSince, enabled } = await admin.call(api.webhooks.get, { id });
    assert.deepEqual([failingSince !== undefined, enabled], [true, true]);
  }
  for (const id of ids) {
    const [latest] = await admin.call(api.webhooks.listDeliveries, { id, limit: 1 });
    assert.equal(latest!.attempts, 1);
    assert.equal((await admin.call(api.webhooks.get, { id })).failingSince, undefined);
  }
});
