import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api } from "@downlink/protocol";
import { startWebhookLoad } from "./testing/webhook-load.ts";

const EVENTS = 1000;
const WELL = 15;
const { admin, ids, registerDead, send } = await startWebhookLoad({ after }, WELL);

/** Has the events occur, and returns how long it took until each receiver had all of them. */
async function sendAll(round: string): Promise<number> {
  const { tookMs, received } = await send(round, EVENTS);
  for (const ofOne of received) {
    const events = new Set(ofOne.map(({ event }) => event.webhookEventId));
    assert.deepEqual([ofOne.length, events.size], [EVENTS, EVENTS], "each event came, and came once");
  }
  return tookMs;
}

test("of 20 receivers 5 are dead: 1,000 events reach the other 15 nearly as soon as if there were only these", async (t) => {
  const aloneMs = await sendAll("alone");
  const dead = await registerDead();
  const besideMs = await sendAll("beside");
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
