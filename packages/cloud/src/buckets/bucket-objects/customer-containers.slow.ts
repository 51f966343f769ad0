import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api } from "@downlink/protocol";
import { runAzurite, whyNoAzurite } from "../../store/bucket-uploads/testing/run-azurite.ts";
import { proxyS3 } from "../../store/bucket-uploads/testing/s3-proxy.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { createBucketSite, type NewBucketSite } from "./create-bucket-site.ts";
import { replaceInItsMiddle } from "./testing/replace-in-middle.ts";
import { requireUnavailable } from "./testing/require-unavailable.ts";
import { siteActions } from "./testing/site-actions.ts";
import { anotherMcap } from "./testing/start-customer.ts";

const skip = whyNoAzurite();
// Without the emulator every test is skipped, and none of these is used.
const { cloud, azurite, proxy, all } =
  skip === undefined ? await startAll() : ({} as Awaited<ReturnType<typeof startAll>>);

/** Azurite has another word for a wrong key than Azure. */
const REFUSED = /the container refuses ListBlobs \(403 \w+\)/;

/** A control plane that reaches the customers' containers through a proxy, with a signature that lets it read and list in one of them. */
async function startAll() {
  const stack = new AsyncDisposableStack();
  after(() => stack.disposeAsync());
  const running = stack.use(await runAzurite());
  const between = stack.use(await proxyS3(running.endpoint));
  /** All requests to containers, and those since a test last emptied the list. */
  const [everything, calls]: [string[], string[]] = [[], []];
  const note = (call: string) => {
    everything.push(call);
    calls.push(call);
    return "forward" as const;
  };
  between.setFaults(note);
  const own = await running.makeContainer();
  const environment = {
    DOWNLINK_LIST_BUCKETS: "0",
    DOWNLINK_BUCKET_PLANT_SAS_TOKEN: running.signFor(own, "rl"),
    DOWNLINK_BUCKET_KEY_ACCOUNT_KEY: running.accountKey,
    DOWNLINK_BUCKET_WRONG_ACCOUNT_KEY: Buffer.alloc(64).toString("base64"),
    DOWNLINK_BUCKET_BLIND_SAS_TOKEN: running.signFor(own, "r"),
  };
  const started = await startCloud({ after }, { environment });
  return { cloud: started, azurite: running, proxy: between, all: { own, everything, calls, note } };
}

const place = (bucket: string): NewBucketSite => ({
  ...{ name: bucket, organization: undefined, provider: "azure", bucket, prefix: "", region: null },
  ...{ azureStorageAccountName: azurite.account, endpoint: `${proxy.endpoint}/${azurite.account}`, credentials: "key" },
});
const create = (given: NewBucketSite) =>
  createBucketSite(cloud.deps, given, { bucket: undefined, container: undefined });

/** Makes a site of a container, by default of a new one. */
async function makeSite(given: Partial<NewBucketSite> = {}) {
  const bucket = given.bucket ?? (await azurite.makeContainer());
  const siteId = await create({ ...place(bucket), ...given });
  const { orgId } = await cloud.deps.db.prisma.site.findUniqueOrThrow({ where: { id: siteId } });
  const client = azurite.open(bucket);
  return {
    ...{ siteId, bucket, client },
    ...siteActions(cloud, { orgId, siteId, bucket }),
    async put(name: string, bytes: Uint8Array, metadata: Record<string, string> = {}) {
      await client.getBlockBlobClient(name).upload(Buffer.from(bytes), bytes.byteLength, { metadata });
    },
    remove: async (name: string) => void (await client.deleteBlob(name)),
  };
}

async function exportOf(recordingId: string): Promise<Response> {
  const { link } = await cloud.admin.call(api.exports.create, { recordingId });
  return fetch(link);
}

test("what cannot be read becomes no site, and the reason is said without a secret", { skip }, async () => {
  const container = await azurite.makeContainer();
  for (const [given, sentence] of [
    [{ azureStorageAccountName: null }, /--account is missing/],
    [{ azureStorageAccountName: "a.example.org/" }, /3 to 24 lower-case letters/],
    [{ credentials: null }, /--credentials is missing/],
    [{ credentials: "nobody" }, /DOWNLINK_BUCKET_NOBODY_SAS_TOKEN is missing .*DOWNLINK_BUCKET_NOBODY_ACCOUNT_KEY/],
    [{ credentials: "wrong" }, REFUSED],
    [{ credentials: "blind", bucket: all.own }, /it needs the permission to list/],
    [{ bucket: "not-there" }, /is not there/],
    [{ bucket: "NOT A NAME" }, /cannot be listed/],
  ] as const)
    await assert.rejects(create({ ...place(container), ...given }), (error: Error) => {
      assert.equal(error.name, "CommandError", error.stack);
      assert.match(error.message, sentence);
      return true;
    });
  const own = { bucket: undefined, container: { account: azurite.account, container } };
  await assert.rejects(createBucketSite(cloud.deps, place(container), own), /this deployment's own bucket/);
  assert.equal(await cloud.deps.db.prisma.siteBucket.count(), 0);
});

test("a signature that may only read and list is enough; objects with odd names become recordings by a listing", {
  skip,
}, async () => {
  const site = await makeSite({ bucket: all.own, credentials: "plant", prefix: "runs/" });
  const names = ["runs/r1/a b+c %2F&?#.mcap", "runs/ü/100%.mcap", "runs/\u{1f916}.mcap", "runs/\uff21.mcap"];
  for (const name of names) await site.put(name, await anotherMcap());
  await site.put("elsewhere.mcap", await anotherMcap());
  await site.put("runs/folder", new Uint8Array(0), { hdi_isfolder: "true" });
  assert.equal(await site.scan(), undefined);
  const recordings = await site.recordings();
  assert.deepEqual(
    new Set(recordings.map(({ location, importStatus }) => [location, importStatus])),
    new Set(
      recordings.map(({ path }) => [
        { path, bucket: site.bucket, azureStorageAccountName: azurite.account },
        "complete",
      ]),
    ),
  );
  assert.deepEqual(new Set(recordings.map(({ path }) => path)), new Set(names));
  const folder = { siteId: site.siteId, name: "runs/folder" };
  const row = await cloud.deps.db.prisma.bucketObject.findFirst({ where: folder });
  assert.equal(row?.state, "ignored", "a folder of an account that has its own");
  for (const { id } of recordings) assert.equal((await exportOf(id)).status, 200);
  all.calls.length = 0;
  assert.equal(await site.scan(), undefined);
  assert.ok(
    all.calls.length > 0 && !all.calls.some((call) => call.startsWith("HEAD")),
    "nothing differs from the rows",
  );
});

test("the metadata of an object says whose it is, whatever case Azure gives its names", { skip }, async () => {
  const site = await makeSite();
  const [project] = await cloud.admin.call(api.projects.list, {});
  const device = await cloud.admin.call(api.devices.create, { name: "of-azure", projectId: project!.id });
  const metadata = { deviceId: device.id, projectId: project!.id, key: "first", sessionKey: "drive" };
  await site.put("a.mcap", await anotherMcap(), metadata);
  await site.scan();
  const [recording] = await site.recordings();
  const { projectId, key, sessionKey } = recording!;
  assert.deepEqual([recording!.device?.id, projectId, key, sessionKey], [device.id, project!.id, "first", "drive"]);
});

test("Event Grid leads to the site of its account and container, and to no other", { skip }, async () => {
  const site = await makeSite();
  const other = await makeSite();
  for (const one of [site, other]) await one.put("r1/ä b.mcap", await anotherMcap());
  const { token } = await cloud.admin.call(api.inboxTokens.create, { siteId: site.siteId });
  const notify = async (id: string, { account = azurite.account, container = site.bucket, type = "Created" }) => {
    const topic = `/subscriptions/1/providers/Microsoft.Storage/storageAccounts/${account}`;
    const subject = `/blobServices/default/containers/${container}/blobs/r1/ä b.mcap`;
    const events = [{ id, topic, subject, eventType: `Microsoft.Storage.Blob${type}`, data: {} }];
    const url = `${cloud.url}/endpoints/inbox-notifications?token=${token}`;
    const headers = { "content-type": "application/json" };
    const { status } = await fetch(url, { method: "POST", headers, body: JSON.stringify(events) });
    assert.equal(status, 200);
    for (const one of [site, other]) await one.settle();
  };
  await notify("1", { account: "another" });
  await notify("2", { container: other.bucket });
  assert.deepEqual([await site.recordings(), await other.recordings()], [[], []]);
  await notify("3", {});
  assert.deepEqual(
    (await site.recordings()).map(({ path, importStatus }) => [path, importStatus]),
    [["r1/ä b.mcap", "complete"]],
  );
  await site.remove("r1/ä b.mcap");
  await notify("4", { type: "Deleted" });
  assert.equal((await site.recordings())[0]!.failure?.code, "ObjectGone");
  assert.deepEqual(await other.recordings(), []);
});

test("an object that is removed, returns and is overwritten: the recording says so, and is back with its bytes", {
  skip,
}, async () => {
  const site = await makeSite();
  const bytes = await anotherMcap({ deviceName: "r1" });
  await site.put("a.mcap", bytes);
  await site.scan();
  const [before] = await site.recordings();
  await site.remove("a.mcap");
  await site.note("a.mcap");
  const [gone] = await site.recordings();
  assert.deepEqual([gone!.id, gone!.importStatus, gone!.failure?.code], [before!.id, "failed", "ObjectGone"]);
  await site.put("a.mcap", bytes);
  await site.scan();
  const [back, ...others] = await site.recordings();
  assert.deepEqual([back!.id, back!.importStatus, others], [before!.id, "complete", []]);
  await site.put("a.mcap", await anotherMcap({ deviceName: "r1" }));
  assert.ok((await exportOf(before!.id)).status >= 400, "other bytes are never taken for those that were imported");
  await site.note("a.mcap");
  assert.deepEqual((await site.recordings()).map(({ importStatus, failure }) => failure?.code ?? importStatus).sort(), [
    "ObjectReplaced",
    "complete",
  ]);
});

test("an export whose object is replaced in its middle breaks off, and mixes nothing in", { skip }, async (t) => {
  t.after(() => proxy.setFaults(all.note));
  await replaceInItsMiddle({ ...(await makeSite()), proxy, exportOf });
});

test("a container that is away says nothing of its objects, and they are looked for when it is back", {
  skip,
}, async () => {
  const site = await makeSite();
  const bytes = await anotherMcap();
  await site.put("a.mcap", bytes);
  await site.put("b.mcap", await anotherMcap());
  await site.scan();
  const before = await site.recordings();
  const [a, b] = before;
  await site.client.delete();
  const problem = await site.scan();
  assert.match(problem ?? "", /is not there/);
  requireUnavailable(await site.recordings(), before, problem);
  assert.ok((await exportOf(a!.id)).status >= 500);
  await site.client.create();
  await site.put("a.mcap", bytes);
  assert.equal(await site.scan(), undefined);
  const left = await site.recordings();
  assert.deepEqual(
    left.map(({ id, importStatus, failure }) => [id, failure?.code ?? importStatus]),
    [
      [a!.id, "complete"],
      [b!.id, "ObjectGone"],
    ],
  );
  assert.equal((await exportOf(a!.id)).status, 200);
});

test("an object that went to the archive is not taken for gone", { skip }, async () => {
  const site = await makeSite();
  await site.put("a.mcap", await anotherMcap());
  await site.scan();
  const before = await site.recordings();
  const blob = site.client.getBlobClient("a.mcap");
  await blob.setAccessTier("Archive");
  assert.equal(await site.scan(), undefined);
  assert.deepEqual(await site.recordings(), before);
  assert.ok((await exportOf(before[0]!.id)).status >= 500);
});

test("a credential that is wrong by now says so, and changes nothing", { skip }, async () => {
  const site = await makeSite();
  await site.put("a.mcap", await anotherMcap());
  await site.scan();
  const before = await site.recordings();
  const { siteBucket } = cloud.deps.db.prisma;
  const where = { siteId: site.siteId };
  for (const [credentials, sentence] of [
    ["wrong", REFUSED],
    ["nobody", /DOWNLINK_BUCKET_NOBODY_SAS_TOKEN is missing/],
  ] as const) {
    await siteBucket.update({ where, data: { credentials } });
    const problem = await site.scan();
    assert.match(problem ?? "", sentence);
    assert.equal((await siteBucket.findUniqueOrThrow({ where })).problem, problem);
    requireUnavailable(await site.recordings(), before, problem);
    assert.ok((await exportOf(before[0]!.id)).status >= 500);
  }
  await siteBucket.update({ where, data: { credentials: "key" } });
  assert.equal(await site.scan(), undefined);
  assert.equal((await exportOf(before[0]!.id)).status, 200);
});

test("not one write or delete was sent to any container", { skip }, async () => {
  assert.ok(all.everything.length > 0);
  assert.deepEqual(
    all.everything.filter((call) => !/^(GET|HEAD) /.test(call)),
    [],
  );
});
