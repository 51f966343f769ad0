import assert from "node:assert/strict";
import { after, test } from "node:test";
import { inspect } from "node:util";
import { api, type CallInput } from "@downlink/protocol";
import { eventually, slowTest } from "@downlink/recordings/testing";
import { Webhook as StandardWebhook } from "standardwebhooks";
import { refusedWith } from "../../testing/refused-with.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { createRunningClock } from "../../testing/test-clock.ts";
import { claimDeliveries, findDue } from "./claim-deliveries.ts";
import { forgetEvents } from "./forget-events.ts";
import { recordAttempts } from "./record-attempts.ts";
import { startReceiver } from "./testing/receiver.ts";

const SECOND_NS = 1_000_000_000n;
const DAY_NS = 86_400n * SECOND_NS;
const time = createRunningClock();
const cloud = await startCloud(
  { after },
  {
    clock: time,
    environment: { DOWNLINK_WEBHOOK_NETWORKS: "127.0.0.0/8" },
  },
);
const { admin, deps } = cloud;
const { db, clock } = deps;

type Body = CallInput<typeof api.webhooks.create>;
const register = (url: string, more: Partial<Body> = {}, by = admin) =>
  by.call(api.webhooks.create, { name: "receiver", url, eventTypes: ["device.created"], ...more });
let made = 0;
const makeDevice = (by = admin, projectId?: string) => {
  made += 1;
  return by.call(api.devices.create, { name: `robot-${made}`, projectId });
};
const deliveriesOf = (id: string, by = admin) => by.call(api.webhooks.listDeliveries, { id });
const settled = async (id: string, count = 1) =>
  await eventually(
    () => deliveriesOf(id),
    (all) => all.length === count && all.every(({ attempts }) => attempts > 0),
  );

test("a delivery that fails is tried again later, under the same id and with another signature", async (t) => {
  const statuses = [500, 204];
  const receiver = await startReceiver(t, (response) => void response.writeHead(statuses.shift()!).end());
  const { id } = await register(receiver.url);
  await makeDevice();
  const [failed] = await settled(id);
  assert.partialDeepStrictEqual(failed, { state: "waiting", attempts: 1, statusCode: 500, type: "device.created" });
  assert.match(failed!.error!, /answered 500/);
  assert.ok((await admin.call(api.webhooks.get, { id })).failingSince);
  assert.ok(failed!.nextAttemptAt! - failed!.lastAttemptAt! >= 10n * SECOND_NS);
  time.aheadNs += 13n * SECOND_NS;
  const [delivered] = await eventually(
    () => deliveriesOf(id),
    ([one]) => one!.state === "delivered",
  );
  assert.partialDeepStrictEqual(delivered, { id: failed!.id, attempts: 2, statusCode: 204 });
  assert.equal((await admin.call(api.webhooks.get, { id })).failingSince, undefined);
  const [first, second] = receiver.received;
  assert.equal(first!.headers["webhook-id"], second!.headers["webhook-id"]);
  assert.notEqual(first!.headers["webhook-signature"], second!.headers["webhook-signature"]);
});

test("a receiver that asks to wait gets nothing before, whatever comes for it", async (t) => {
  const receiver = await startReceiver(t, (response) => void response.writeHead(429, { "retry-after": "120" }).end());
  const { id } = await register(receiver.url);
  await makeDevice();
  const [held] = await settled(id);
  const lastAt = held!.lastAttemptAt!;
  assert.ok(held!.nextAttemptAt! - lastAt >= 120n * SECOND_NS);
  await makeDevice();
  const isDueAt = async (nowNs: bigint) =>
    (await findDue(db, { nowNs, busy: [], most: 100 })).some((due) => due.id === id);
  assert.equal(await isDueAt(lastAt + 119n * SECOND_NS), false);
  assert.equal(await isDueAt(lastAt + 121n * SECOND_NS), true);
  assert.equal(receiver.received.length, 1);
  await admin.call(api.webhooks.delete, { id });
});

test("a receiver that is gone is sent nothing more: the webhook is disabled and says why", async (t) => {
  const receiver = await startReceiver(t, (response) => void response.writeHead(410).end());
  const { id } = await register(receiver.url);
  await makeDevice();
  const [ended] = await settled(id);
  assert.equal(ended!.state, "failed");
  const webhook = await admin.call(api.webhooks.get, { id });
  assert.deepEqual([webhook.enabled, webhook.disabledReason], [false, "the receiver answered 410 Gone"]);
  await makeDevice();
  assert.equal((await deliveriesOf(id)).length, 1, "what happens meanwhile is not kept for it");
  await assert.rejects(admin.call(api.webhooks.ping, { id }), refusedWith("Conflict"));
  const enabled = await admin.call(api.webhooks.update, { id, enabled: true });
  assert.deepEqual([enabled.enabled, enabled.disabledReason], [true, undefined]);
  await admin.call(api.webhooks.delete, { id });
});

test("the history has the beginning of the receiver's answer, and how long it took; it is filtered by state and type", async (t) => {
  const receiver = await startReceiver(t, (response) => void response.writeHead(503).end("é".repeat(3000)));
  const { id } = await register(receiver.url);
  await makeDevice();
  const [failed] = await settled(id);
  assert.equal(Buffer.byteLength(failed!.answer!), 2048);
  assert.match(failed!.answer!, /^é+$/);
  assert.ok(failed!.durationMs! >= 0);
  const count = async (query: object) => (await admin.call(api.webhooks.listDeliveries, { id, ...query })).length;
  assert.deepEqual(
    await Promise.all(
      [{ state: "waiting" }, { state: "failed" }, { type: "device.created" }, { type: "ping" }].map(count),
    ),
    [1, 0, 1, 0],
  );
  await admin.call(api.webhooks.delete, { id });
});

slowTest("all that failed since a time is sent again by one call", async (t) => {
  let status = 410;
  const receiver = await startReceiver(t, (response) => void response.writeHead(status).end());
  const { id } = await register(receiver.url);
  await makeDevice();
  const [first] = await settled(id);
  await admin.call(api.webhooks.update, { id, enabled: true });
  await makeDevice();
  await eventually(
    () => deliveriesOf(id),
    (all) => all.length === 2 && all.every(({ state }) => state === "failed"),
  );
  await assert.rejects(admin.call(api.webhooks.retryFailed, { id }), refusedWith("Conflict"));
  await admin.call(api.webhooks.update, { id, enabled: true });
  status = 204;
  const since = first!.timestamp + 1n;
  assert.deepEqual(await admin.call(api.webhooks.retryFailed, { id, since }), { count: 1 });
  await eventually(
    () => deliveriesOf(id),
    ([later, earlier]) => later!.state === "delivered" && earlier!.state === "failed",
  );
  assert.deepEqual(await admin.call(api.webhooks.retryFailed, { id }), { count: 1 });
  await eventually(
    () => deliveriesOf(id),
    (all) => all.every(({ state }) => state === "delivered"),
  );
  await admin.call(api.webhooks.delete, { id });
});

test("for a day after a rotation both secrets sign, as the standard's library reads it; then only the new one", async (t) => {
  const receiver = await startReceiver(t);
  const { id, secret: before } = await register(receiver.url);
  const { secret: now, formerSecretUntil } = await admin.call(api.webhooks.rotateSecret, { id });
  assert.notEqual(now, before);
  assert.ok(formerSecretUntil);
  const isSignedBy = (secret: string, index: number) => {
    const { body, headers } = receiver.received[index]!;
    try {
      return new StandardWebhook(secret).verify(body, headers as Record<string, string>) !== undefined;
    } catch {
      return false;
    }
  };
  await makeDevice();
  await settled(id, 1);
  assert.deepEqual([isSignedBy(now, 0), isSignedBy(before, 0)], [true, true]);
  await db.prisma.webhook.update({ where: { id }, data: { formerUntilNs: clock.nowNs() - 1n } });
  await makeDevice();
  await settled(id, 2);
  assert.deepEqual([isSignedBy(now, 1), isSignedBy(before, 1)], [true, false]);
  await admin.call(api.webhooks.delete, { id });
});

test("a redirect is not followed", async (t) => {
  const target = await startReceiver(t);
  const receiver = await startReceiver(t, (response) => void response.writeHead(307, { location: target.url }).end());
  const { id } = await register(receiver.url);
  await makeDevice();
  const [refused] = await settled(id);
  assert.match(refused!.error!, /answered 307; redirects are not followed/);
  assert.equal(target.received.length, 0);
  await admin.call(api.webhooks.delete, { id });
});

slowTest("receivers that never answer delay no other one", async (t) => {
  const silent = await Promise.all(Array.from({ length: 5 }, () => startReceiver(t, () => {})));
  const receiver = await startReceiver(t);
  const dead = await Promise.all(silent.map(({ url }) => register(url)));
  const { id } = await register(receiver.url);
  await Promise.all(Array.from({ length: 50 }, () => makeDevice()));
  await settled(id, 50);
  assert.equal(new Set(receiver.received.map(({ event }) => event.webhookEventId)).size, 50);
  for (const one of [...dead, { id }]) await admin.call(api.webhooks.delete, { id: one.id });
});

test("what a process had taken when it died is sent by another one, under the same id", async (t) => {
  const receiver = await startReceiver(t);
  const { id } = await register(receiver.url, { enabled: false });
  const { id: eventId } = await db.prisma.outboxEvent.create({
    data: { id: "whev_taken", orgId: "org", type: "device.created", payload: {}, occurredAtNs: clock.nowNs() },
  });
  await db.prisma.webhookDelivery.create({ data: { webhookId: id, eventId, dueAtNs: clock.nowNs() } });
  // As a worker does that is killed before it has recorded anything; none of this process may be faster.
  await db.prisma.webhook.update({ where: { id }, data: { enabled: true, heldUntilNs: clock.nowNs() + DAY_NS } });
  const later = { webhookId: id, nowNs: clock.nowNs() + DAY_NS, most: 8 };
  assert.deepEqual(
    (await claimDeliveries(db, later)).map((taken) => taken.eventId),
    [eventId],
  );
  assert.deepEqual(await claimDeliveries(db, later), [], "nobody else takes it at once");
  time.aheadNs += DAY_NS + 31n * SECOND_NS;
  await settled(id);
  assert.deepEqual(
    receiver.received.map(({ event }) => event.webhookEventId),
    [eventId],
  );
});

test("a delivery is sent again by hand, whatever became of it", async (t) => {
  const receiver = await startReceiver(t);
  const { id } = await register(receiver.url);
  await makeDevice();
  const [sent] = await settled(id);
  const again = await admin.call(api.webhooks.retryDelivery, { id, deliveryId: sent!.id });
  assert.equal(again.state, "waiting");
  await eventually(
    async () => receiver.received,
    ({ length }) => length === 2,
  );
  const [first, second] = receiver.received;
  assert.equal(first!.event.webhookEventId, second!.event.webhookEventId);
  await assert.rejects(
    admin.call(api.webhooks.retryDelivery, { id, deliveryId: "whev_unknown" }),
    refusedWith("NotFound"),
  );
});

test("a webhook is disabled after five days in which every attempt failed, and not before", async () => {
  const url = "http://127.0.0.1:9/";
  const { id } = await register(url, { eventTypes: ["dataset.committed"] });
  const failing = {
    delivery: { eventId: "whev_x", retriesLeft: 5, url },
    statusCode: undefined,
    error: "ECONNREFUSED",
  };
  const startNs = clock.nowNs();
  const failAt = (afterNs: bigint) =>
    recordAttempts(db, { webhookId: id, attempts: [failing], nowNs: startNs + afterNs });
  const takeAt = (afterNs: bigint) =>
    recordAttempts(db, {
      webhookId: id,
      attempts: [{ ...failing, statusCode: 200, error: undefined }],
      nowNs: startNs + afterNs,
    });
  assert.equal(await failAt(0n), undefined);
  await takeAt(4n * DAY_NS);
  for (const days of [4n, 5n, 6n, 8n]) assert.equal(await failAt(days * DAY_NS + 1n), undefined);
  const reason = await failAt(9n * DAY_NS + 1n);
  assert.equal(reason, "every attempt failed for 5 days; the last one: ECONNREFUSED");
  assert.partialDeepStrictEqual(await admin.call(api.webhooks.get, { id }), {
    enabled: false,
    disabledReason: reason!,
  });
  const { output } = await admin.callWithHeaders(api.audit.list, { resourceId: id, operation: "webhooks.disable" });
  assert.partialDeepStrictEqual(output, [
    { actor: { kind: "service" }, before: { enabled: true }, after: { enabled: false, disabledReason: reason! } },
  ]);
});

test("an attempt at an address that was replaced meanwhile disables and holds nothing; who asks by hand does not wait", async () => {
  const former = "http://127.0.0.1:9/former";
  const { id } = await register(former, { eventTypes: ["dataset.committed"] });
  const delivery = { eventId: "whev_x", retriesLeft: 5, url: former };
  const record = (statusCode: number, retryAfter?: string) =>
    recordAttempts(db, {
      webhookId: id,
      nowNs: clock.nowNs(),
      attempts: [{ delivery, statusCode, retryAfter, error: "no" }],
    });
  const held = async () => (await db.prisma.webhook.findUniqueOrThrow({ where: { id } })).heldUntilNs;
  await record(503, "86400");
  assert.ok((await held()) > clock.nowNs());
  await admin.call(api.webhooks.ping, { id });
  assert.equal(await held(), 0n);
  await admin.call(api.webhooks.update, { id, url: "http://127.0.0.1:9/present" });
  assert.equal(await record(410, "86400"), undefined);
  assert.partialDeepStrictEqual(await admin.call(api.webhooks.get, { id }), { enabled: true });
  assert.equal(await held(), 0n);
  const { output } = await admin.callWithHeaders(api.audit.list, { resourceId: id, operation: "webhooks.update" });
  assert.ok(!inspect(output, { depth: 9 }).includes("present"), "an address may hold a secret behind its host");
});

test("a webhook receives its organization's events and, if it has a project, only those of this project", async (t) => {
  const { id: first } = await admin.call(api.projects.create, { name: "first" });
  const { id: second } = await admin.call(api.projects.create, { name: "second" });
  const other = await cloud.otherOrganization();
  const receivers = await Promise.all([startReceiver(t), startReceiver(t), startReceiver(t)]);
  const [whole, limited, foreign] = receivers.map(({ url }) => url);
  await register(whole!);
  await register(limited!, { projectId: first });
  await register(foreign!, {}, other);
  const devices = [await makeDevice(admin, first), await makeDevice(admin, second), await makeDevice(other)];
  const [one, two, three] = devices.map(({ id }) => id);
  const seen = () => receivers.map(({ received }) => received.map(({ event }) => (event.device as { id: string }).id));
  await eventually(
    async () => seen(),
    ([all, ofFirst, ofOther]) => all!.length === 2 && ofFirst!.length === 1 && ofOther!.length === 1,
  );
  assert.deepEqual(
    seen().map((ids) => ids.sort()),
    [[one, two].sort(), [one], [three]],
  );
});

test("another organization, and a key of another project, neither see nor change a webhook", async () => {
  const { id: projectId } = await admin.call(api.projects.create, { name: "own" });
  const { id: elsewhere } = await admin.call(api.projects.create, { name: "elsewhere" });
  const keyOf = async (of: string) =>
    cloud.withToken(
      (await admin.call(api.apiKeys.create, { name: "limited", capabilities: ["*"], projectIds: [of] })).token!,
    );
  const [own, foreign, other] = [await keyOf(projectId), await keyOf(elsewhere), await cloud.otherOrganization()];
  await assert.rejects(register("https://example.org", {}, own), refusedWith("InvalidRequest"));
  await assert.rejects(register("https://example.org", { projectId: elsewhere }, own), refusedWith("NotFound"));
  const whole = await register("https://example.org");
  const { id, secret } = await register("https://example.org", { projectId, eventTypes: ["device.offline"] }, own);
  assert.deepEqual(
    (await own.call(api.webhooks.list, {})).map((one) => one.id),
    [id],
  );
  assert.ok(!inspect(await admin.call(api.webhooks.list, {})).includes(secret), "a secret is shown once");
  for (const [client, ids] of [
    [own, [whole.id]],
    [foreign, [whole.id, id]],
    [other, [whole.id, id]],
  ] as const)
    for (const hidden of ids) {
      assert.ok(!(await client.call(api.webhooks.list, {})).some((one) => one.id === hidden));
      const calls = [
        () => client.call(api.webhooks.get, { id: hidden }),
        () => client.call(api.webhooks.update, { id: hidden, name: "mine" }),
        () => client.call(api.webhooks.ping, { id: hidden }),
        () => client.call(api.webhooks.listDeliveries, { id: hidden }),
        () => client.call(api.webhooks.retryDelivery, { id: hidden, deliveryId: "whev_x" }),
        () => client.call(api.webhooks.delete, { id: hidden }),
      ];
      for (const call of calls) await assert.rejects(call(), refusedWith("NotFound"));
    }
  assert.equal((await admin.call(api.webhooks.get, { id })).name, "receiver");
});

slowTest("an address that may not be requested is refused when it is registered", async () => {
  const { admin: strict } = await startCloud({ after }, { works: false });
  for (const url of [
    "https://127.0.0.1/",
    "https://[::ffff:10.0.0.1]/",
    "https://2130706433/",
    "https://0177.0.0.1/",
    "http://example.org/",
    "https://u:p@example.org/",
    "file:///etc/passwd",
    "example.org",
  ])
    await assert.rejects(register(url, {}, strict), refusedWith("InvalidRequest"), url);
  const { id } = await register("https://example.org/", {}, strict);
  await assert.rejects(
    strict.call(api.webhooks.update, { id, url: "https://10.0.0.1/" }),
    refusedWith("InvalidRequest"),
  );
});

test("an address is kept in its parsed form, and plain http only of a network that the operator allows", async () => {
  const { id, url } = await register("HTTP://127.1:9/a b/../c?d#");
  assert.equal(url, "http://127.0.0.1:9/c?d#");
  assert.equal((await admin.call(api.webhooks.update, { id, url: "https://EXAMPLE.org" })).url, "https://example.org/");
  const refused = refusedWith("InvalidRequest", /url.*: plain http is for the networks of DOWNLINK_WEBHOOK_NETWORKS/);
  for (const plain of ["http://receiver.invalid/x", "http://8.8.8.8/x"]) {
    await assert.rejects(register(plain), refused);
    await assert.rejects(admin.call(api.webhooks.update, { id, url: plain }), refused);
  }
  await db.prisma.webhook.update({ where: { id }, data: { url: "http://receiver.invalid/x" } });
  assert.equal((await admin.call(api.webhooks.update, { id, name: "of before" })).name, "of before");
});

test("a change that is rolled back sends nothing, and one of many rows sends each once", async () => {
  const { id } = await register("http://127.0.0.1:9/", { eventTypes: ["device.updated"], enabled: true });
  const { orgId } = await db.prisma.webhook.findUniqueOrThrow({ where: { id } });
  const events = ["whev_m1", "whev_m2", "whev_m3"].map((eventId) => ({
    ...{ id: eventId, orgId, type: "device.updated", payload: {}, occurredAtNs: clock.nowNs() + 100n * DAY_NS },
  }));
  const rolledBack = db.prisma.$transaction(async (tx) => {
    await tx.outboxEvent.createMany({ data: events });
    throw new Error("it failed");
  });
  await assert.rejects(rolledBack, /it failed/);
  assert.deepEqual(await deliveriesOf(id), []);
  await db.prisma.outboxEvent.createMany({ data: events });
  assert.deepEqual(
    (await deliveriesOf(id)).map((delivery) => delivery.id),
    ["whev_m3", "whev_m2", "whev_m1"],
  );
});

test("events and their deliveries are forgotten after thirty days", async (t) => {
  const receiver = await startReceiver(t);
  const { id: projectId } = await admin.call(api.projects.create, { name: "kept" });
  const { id } = await register(receiver.url, { projectId });
  await makeDevice(admin, projectId);
  await settled(id);
  time.aheadNs = 29n * DAY_NS;
  await forgetEvents(deps);
  assert.equal((await deliveriesOf(id)).length, 1);
  time.aheadNs = 31n * DAY_NS;
  await forgetEvents(deps);
  assert.deepEqual(await deliveriesOf(id), []);
});
