import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api, type CallInput } from "@downlink/protocol";
import { slowTest } from "@downlink/recordings/testing";
import { newId } from "../../db/ids.ts";
import { PublicFetchError } from "../../process/outgoing/allowed-address.ts";
import { refusedWith } from "../../testing/refused-with.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { createRunningClock } from "../../testing/test-clock.ts";
import { forgetNotifications } from "./forget-notifications.ts";
import { makeTopic, TOPIC_ARN } from "./testing/sns-topic.ts";

const DAY_NS = 86_400_000_000_000n;
const topic = makeTopic();
const fetched: string[] = [];
const internet = { isAway: false };
const time = createRunningClock();
const cloud = await startCloud(
  { after },
  {
    works: false,
    clock: time,
    fetchPublic: async ({ href, host }) => {
      if (internet.isAway) throw new PublicFetchError("sns.eu-central-1.amazonaws.com: getaddrinfo EAI_AGAIN");
      fetched.push(href);
      return host === "www.googleapis.com" ? JSON.stringify({ keys: [] }) : topic.certificate;
    },
  },
);
const { admin, deps } = cloud;
const { prisma } = deps.db;
const { orgId } = await prisma.site.findFirstOrThrow();

const makeBucket = async (over: object = {}, name = "robots") => {
  const site = { id: newId("site"), orgId, name, type: "byob", createdAtNs: 0n } as const;
  const bucket = { provider: "s3_compatible", bucket: name, ...over } as const;
  await prisma.site.create({ data: { ...site, bucket: { create: bucket } } });
  return site.id;
};
const siteId = await makeBucket({ prefix: "logs/" });
const makeToken = async (of: string, senders: object = {}) =>
  (await admin.call(api.inboxTokens.create, { siteId: of, ...senders })).token!;
const token = await makeToken(siteId);
const inbox = cloud.withToken(token);

const known = async (of = siteId) =>
  (await prisma.bucketObject.findMany({ where: { siteId: of }, orderBy: { name: "asc" } })).map(({ name }) => name);
/** Returns how many objects are to be looked at. */
const looks = async () =>
  (await deps.db.pool.query("SELECT count(*)::int AS n FROM pgboss.job WHERE name = 'look-at-object'")).rows[0]
    .n as number;

let messages = 0;
type Body = CallInput<typeof api.bucketNotifications.create>;
const notify = (body: Partial<Body> = {}, by = inbox) => {
  messages += 1;
  const names = { bucketName: "robots", storageProvider: "s3_compatible", fileName: "logs/a.mcap" } as const;
  return by.call(api.bucketNotifications.create, { messageId: `m${messages}`, ...names, ...body });
};

test("a notification is a success, and its object will be looked at, once for all that come before", async () => {
  assert.deepEqual(await notify(), { success: true });
  await notify({ notificationType: "object_removed" });
  await notify({ deviceName: "robot" });
  assert.deepEqual(await known(), ["logs/a.mcap"]);
  assert.equal(await looks(), 1);
  const [object] = await prisma.bucketObject.findMany();
  assert.equal(object!.deviceName, "robot");
});

test("a repeat within seven days changes nothing, and one after that is as new", async () => {
  await notify({ messageId: "same", fileName: "logs/repeated" });
  const first = await prisma.bucketNotification.count();
  await prisma.bucketObject.deleteMany({ where: { name: "logs/repeated" } });
  await Promise.all(Array.from({ length: 10 }, () => notify({ messageId: "same", fileName: "logs/repeated" })));
  assert.ok(!(await known()).includes("logs/repeated"));
  time.aheadNs = 7n * DAY_NS - 60_000_000_000n;
  await forgetNotifications(deps);
  assert.equal(await prisma.bucketNotification.count(), first);
  time.aheadNs = 7n * DAY_NS + 60_000_000_000n;
  await forgetNotifications(deps);
  time.aheadNs = 0n;
  assert.equal(await prisma.bucketNotification.count(), 0);
  await notify({ messageId: "same", fileName: "logs/repeated" });
  assert.ok((await known()).includes("logs/repeated"));
});

test("the same id at another site is another message", async () => {
  const other = await makeBucket({}, "second");
  const client = cloud.withToken(await makeToken(other));
  for (const by of [client, inbox]) {
    const bucketName = by === client ? "second" : "robots";
    await notify({ messageId: "shared", bucketName, fileName: "logs/shared" }, by);
  }
  assert.deepEqual(await known(other), ["logs/shared"]);
  assert.ok((await known()).includes("logs/shared"));
});

test("odd names stay as they are", async () => {
  const names = [
    "a+b",
    "a%2Fb",
    "a b",
    "ü/日本/\u{1f916}",
    "..",
    "../x",
    "//",
    "\n",
    "'; DROP TABLE",
    "x".repeat(1019),
    "ü".repeat(509),
  ];
  for (const name of names) await notify({ fileName: `logs/${name}` });
  const found = new Set(await known());
  for (const name of names) assert.ok(found.has(`logs/${name}`), name);
});

/** Calls without our client, which would refuse such values itself. */
const call = async (path: string, by: string, body: unknown) => {
  const headers = { authorization: `Bearer ${by}`, "content-type": "application/json" };
  const response = await fetch(`${cloud.url}${path}`, { method: "POST", body: JSON.stringify(body), headers });
  return { status: response.status, text: await response.text() };
};
const said = { bucketName: "robots", storageProvider: "s3_compatible", fileName: "logs/a" };

test("a name that no object can have is refused, and so is a device name that is none: 400", async () => {
  const bad = ["", `logs/${"x".repeat(1020)}`, `logs/${"ü".repeat(510)}`, "logs/\0", "logs/\ud800"];
  for (const over of [...bad.map((fileName) => ({ fileName })), { deviceName: "no name" }, { notificationType: "x" }]) {
    const body = { messageId: "bad", ...said, ...over };
    const { status, text } = await call("/v1/site-bucket-notifications", token, body);
    assert.equal(status, 400);
    assert.match(text, new RegExp(Object.keys(over)[0]!));
  }
});

test("a name that the site does not cover is dropped before anything else is looked at", async () => {
  const before = [await known(), await prisma.bucketNotification.count()];
  for (const fileName of ["other/a.mcap", "log", "/logs/a", "LOGS/a"])
    assert.deepEqual(await notify({ fileName }), { success: true });
  assert.deepEqual([await known(), await prisma.bucketNotification.count()], before);
});

test("another bucket, provider or storage account than the site's is refused", async () => {
  await assert.rejects(notify({ bucketName: "other" }), refusedWith("NotificationRefused", /bucket is not "other"/));
  await assert.rejects(
    notify({ storageProvider: "aws" }),
    refusedWith("NotificationRefused", /s3_compatible, not aws/),
  );
  const azure = cloud.withToken(
    await makeToken(await makeBucket({ provider: "azure", azureStorageAccountName: "mine" }, "az")),
  );
  const ofAzure = { bucketName: "az", storageProvider: "azure" } as const;
  await assert.rejects(notify(ofAzure, azure), refusedWith("InvalidRequest", /azureStorageAccountName is required/));
  await assert.rejects(
    notify({ ...ofAzure, azureStorageAccountName: "other" }, azure),
    refusedWith("NotificationRefused", /account is not "other"/),
  );
  await notify({ ...ofAzure, azureStorageAccountName: "mine" }, azure);
});

test("an owner who is named by an id must be there, in the site's organization", async () => {
  const other = await cloud.otherOrganization();
  const [theirs] = await other.call(api.projects.list, {});
  for (const owner of [{ deviceId: "dev_unknown" }, { projectId: "prj_unknown" }, { projectId: theirs!.id }])
    await assert.rejects(notify(owner), refusedWith("NotFound"), JSON.stringify(owner));
});

test("only inbox notification tokens are accepted, and only while they and their site are there", async () => {
  await assert.rejects(notify({}, admin), refusedWith("WrongCredentialKind", /an inbox notification token/));
  await assert.rejects(inbox.call(api.sites.list, {}), refusedWith("WrongCredentialKind"));
  await assert.rejects(notify({}, cloud.withToken("dl_snt_unknown")), refusedWith("Unauthenticated"));
  const { id, token: ending } = await admin.call(api.inboxTokens.create, { siteId });
  await admin.call(api.inboxTokens.delete, { id });
  await assert.rejects(notify({}, cloud.withToken(ending!)), refusedWith("Unauthenticated"));
  const gone = await makeBucket({}, "gone");
  const ofGone = cloud.withToken(await makeToken(gone));
  await notify({ bucketName: "gone" }, ofGone);
  await admin.call(api.sites.delete, { id: gone });
  await assert.rejects(notify({ bucketName: "gone" }, ofGone), refusedWith("Unauthenticated"));
});

test("a site without a bucket takes no notifications: 409", async () => {
  const { id } = await admin.call(api.sites.create, { name: "own", type: "self-hosted" });
  await assert.rejects(
    notify({}, cloud.withToken(await makeToken(id))),
    refusedWith("Conflict", /own" is self-hosted/),
  );
});

const send = (body: unknown, { by = token, headers = {} }: { by?: string; headers?: Record<string, string> } = {}) =>
  fetch(`${cloud.url}/endpoints/inbox-notifications?token=${by}`, {
    method: "POST",
    body: JSON.stringify(body),
    headers,
  });
const answer = async (sent: Promise<Response>) => {
  const response = await sent;
  const { error, code, ...rest } = (await response.json()) as Record<string, string>;
  return { status: response.status, ...rest, ...(code && { code }), ...(error && { error }) };
};
const event = (name: string, bucket = "robots", eventName = "ObjectCreated:Put") => ({
  ...{ eventName, eventSource: "aws:s3", eventTime: `2026-01-01T00:00:00.${messages++}Z` },
  s3: { bucket: { name: bucket }, object: { key: encodeURIComponent(name).replaceAll("%20", "+") } },
});
const success = { status: 200, success: true };

test("a sender that can set a header gives its token there, and its address holds none", async () => {
  const address = `${cloud.url}/endpoints/inbox-notifications`;
  const body = JSON.stringify({ Records: [event("logs/by header")] });
  const post = (headers: Record<string, string>) => answer(fetch(address, { method: "POST", body, headers }));
  assert.equal((await post({})).status, 401);
  assert.deepEqual(await post({ authorization: `Bearer ${token}` }), success);
  assert.ok((await known()).includes("logs/by header"));
});

test("the events of an S3-compatible bucket are accepted, as are other events, which change nothing", async () => {
  const Records = [
    event("logs/s3 a+ü.mcap"),
    event("logs/s3 b"),
    event("logs/s3 c", "elsewhere"),
    event("logs/s3 d", "robots", "ObjectTagging:Put"),
  ];
  assert.deepEqual(await answer(send({ Records })), success);
  const found = (await known()).filter((name) => name.startsWith("logs/s3"));
  assert.deepEqual(found, ["logs/s3 a+ü.mcap", "logs/s3 b"]);
  assert.deepEqual(await answer(send({ Records: [] })), success);
  assert.deepEqual(await answer(send({ Service: "Amazon S3", Event: "s3:TestEvent" })), success);
});

test("without a token of an inbox nothing is read", async () => {
  const body = { Records: [event("logs/nobody")] };
  for (const [by, status] of [
    ["", 401],
    ["dl_snt_unknown", 401],
    [cloud.adminKey, 403],
  ] as const)
    assert.equal((await send(body, { by })).status, status);
  const bare = await fetch(`${cloud.url}/endpoints/inbox-notifications`, {
    method: "POST",
    body: JSON.stringify(body),
  });
  assert.equal(bare.status, 401);
  assert.ok(!(await known()).includes("logs/nobody"));
  assert.equal((await answer(send("text"))).status, 400);
});

const awsSite = await makeBucket({ provider: "aws" }, "aws");
const snsToken = await makeToken(awsSite, { snsTopicArn: TOPIC_ARN });
const ofTopic = (name: string, over?: Record<string, string>) =>
  topic.sign({ Message: JSON.stringify({ Records: [event(name, "aws")] }), MessageId: name }, over);

test("SNS: a subscription is confirmed at SNS's own address, and its notifications are accepted", async () => {
  const SubscribeURL = "https://sns.eu-central-1.amazonaws.com/?Action=ConfirmSubscription&Token=1";
  const asked = topic.sign({ Type: "SubscriptionConfirmation", Token: "1", SubscribeURL });
  assert.deepEqual(await answer(send(asked, { by: snsToken })), success);
  assert.equal(fetched.at(-1), SubscribeURL);
  assert.deepEqual(await answer(send(ofTopic("from sns"), { by: snsToken })), success);
  assert.deepEqual(await answer(send(topic.sign({ Message: "hello" }), { by: snsToken })), success);
  assert.deepEqual(await known(awsSite), ["from sns"]);
});

test("SNS: what it did not sign, for another topic, or of long ago, is refused and changes nothing", async () => {
  const before = [...fetched];
  const evil = {
    Type: "SubscriptionConfirmation",
    Token: "1",
    SubscribeURL: "https://169.254.169.254/latest/meta-data",
  };
  const old = new Date(Date.now() - 8 * 86_400_000).toISOString();
  for (const [message, by, code] of [
    [ofTopic("forged", { Message: "{}" }), snsToken, "Unauthenticated"],
    [topic.sign(evil), snsToken, "Unauthenticated"],
    [topic.sign({ Message: "m", Timestamp: old }), snsToken, "Unauthenticated"],
    [topic.sign({ Message: "m", TopicArn: `${TOPIC_ARN}2` }), snsToken, "NotificationRefused"],
    [ofTopic("unbound"), await makeToken(awsSite), "NotificationRefused"],
  ] as const)
    assert.equal((await answer(send(message, { by }))).code, code);
  assert.deepEqual(await known(awsSite), ["from sns"]);
  assert.deepEqual(fetched, before);
});

test("SNS: while its certificate cannot be read the message is to come again", async () => {
  internet.isAway = true;
  const SigningCertURL = "https://sns.us-east-1.amazonaws.com/other.pem";
  const response = await send(topic.sign({ Message: "m", SigningCertURL }), { by: snsToken });
  internet.isAway = false;
  assert.equal(response.status, 503);
  assert.ok(Number(response.headers.get("retry-after")) > 0);
});

test("Pub/Sub needs a token that was made for its audience, and a token of its own", async () => {
  const google = await makeBucket({ provider: "google_cloud" }, "goo");
  const push = {
    message: { messageId: "1", attributes: { eventType: "OBJECT_FINALIZE", bucketId: "goo", objectId: "a" } },
    subscription: "s",
  };
  const unbound = await answer(send(push, { by: await makeToken(google) }));
  assert.equal(unbound.code, "NotificationRefused");
  const senders = { pubsubAudience: "https://a.example", pubsubServiceAccount: "push@a.example" };
  const by = await makeToken(google, senders);
  assert.equal((await answer(send(push, { by }))).code, "Unauthenticated");
  assert.equal((await answer(send(push, { by, headers: { authorization: "Bearer a.b.c" } }))).status, 401);
  await assert.rejects(
    makeToken(google, { pubsubAudience: "x" }),
    refusedWith("InvalidRequest", /pubsubServiceAccount/),
  );
  assert.deepEqual(await known(google), []);
});

test("Event Grid: both handshakes are answered, and events of the site's account are accepted", async () => {
  const azure = await makeBucket({ provider: "azure", azureStorageAccountName: "acc" }, "grid");
  const by = await makeToken(azure);
  const handshake = { id: "1", topic: "/t", subject: "", eventType: "Microsoft.EventGrid.SubscriptionValidationEvent" };
  assert.deepEqual(await answer(send([{ ...handshake, data: { validationCode: "512d38b6" } }], { by })), {
    ...{ status: 200, validationResponse: "512d38b6" },
  });
  const asked = await fetch(`${cloud.url}/endpoints/inbox-notifications?token=${by}`, {
    method: "OPTIONS",
    headers: { "webhook-request-origin": "eventgrid.azure.net" },
  });
  assert.equal(asked.headers.get("webhook-allowed-origin"), "eventgrid.azure.net");
  const blob = (account: string, name: string) => ({
    ...{ id: name, eventType: "Microsoft.Storage.BlobCreated", data: {} },
    topic: `/subscriptions/1/providers/Microsoft.Storage/storageAccounts/${account}`,
    subject: `/blobServices/default/containers/grid/blobs/${name}`,
  });
  assert.deepEqual(await answer(send([blob("acc", "mine"), blob("other", "theirs")], { by })), success);
  assert.deepEqual(await known(azure), ["mine"]);
});

slowTest("1,000 notifications in a burst, each sent twice, are one look for each object", async () => {
  const burst = await makeBucket({}, "burst");
  const by = await makeToken(burst);
  const before = await looks();
  const events = Array.from({ length: 1000 }, (_, n) => event(`${n}`, "burst"));
  const batches = Array.from({ length: 20 }, (_, n) => events.slice(n * 50, (n + 1) * 50));
  const statuses = await Promise.all(
    [...batches, ...batches].map(async (Records) => (await send({ Records }, { by })).status),
  );
  assert.deepEqual([...new Set(statuses)], [200]);
  assert.equal((await known(burst)).length, 1000);
  assert.equal((await looks()) - before, 1000);
});
