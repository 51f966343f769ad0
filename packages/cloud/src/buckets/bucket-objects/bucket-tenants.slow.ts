import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { Client } from "@downlink/client";
import { api } from "@downlink/protocol";
import { whyNoCeph } from "../../store/bucket-uploads/testing/run-ceph.ts";
import { refusedWith } from "../../testing/refused-with.ts";
import type { OwnerHints } from "./note-object.ts";
import { anotherMcap, type Customer, type CustomerSite, startCustomer } from "./testing/start-customer.ts";

const skip = whyNoCeph();
// Without a real S3 every test is skipped, and none of these is used.
const customer = skip === undefined ? await startCustomer({ after }) : ({} as Customer);
const { cloud, ceph, makeSite } = customer;

/** Two organizations, of which the first has two projects with a device each. */
async function makeTenants() {
  const { admin } = cloud;
  const [one] = await admin.call(api.projects.list, {});
  const two = await admin.call(api.projects.create, { name: "two" });
  const other = await cloud.otherOrganization();
  const [theirs] = await other.call(api.projects.list, {});
  const device = (client: Client, projectId: string) => client.call(api.devices.create, { name: "robot", projectId });
  const devices = {
    one: await device(admin, one!.id),
    two: await device(admin, two.id),
    theirs: await device(other, theirs!.id),
  };
  const keyOf = async (client: Client, projectIds: string[]) => {
    const made = await client.call(api.apiKeys.create, { name: "of some", capabilities: ["*"], projectIds });
    return made.token!;
  };
  return {
    ids: { one: one!.id, two: two.id, theirs: theirs!.id },
    devices,
    other,
    otherOrgId: devices.theirs.orgId,
    tokens: {
      one: await keyOf(admin, [one!.id]),
      two: await keyOf(admin, [two.id]),
      theirs: await keyOf(other, []),
    },
  };
}
const tenants = skip === undefined ? await makeTenants() : ({} as Awaited<ReturnType<typeof makeTenants>>);
const { ids, devices, other, otherOrgId, tokens } = tenants;
const strangers = () => [tokens.two, tokens.theirs].map((token) => ({ token, client: cloud.withToken(token) }));

const requestsOf = async ({ siteId }: CustomerSite, client = cloud.admin) =>
  client.call(api.pendingImports.list, { siteId, showCompleted: true, showQuarantined: true });

/** Reads the data of the second organization; the imports from customers' buckets of the first one must not change it. */
const stateOfOther = async () => ({
  devices: await other.call(api.devices.list, {}),
  sessions: await other.call(api.sessions.list, {}),
  recordings: await other.call(api.recordings.list, {}),
  imports: await other.call(api.pendingImports.list, { showCompleted: true, showQuarantined: true }),
});

interface Claim {
  readonly hints?: OwnerHints;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly file?: Readonly<Record<string, string>>;
}

/** Says the same of an object's owner in each of the three ways. */
const saidOf = (owner: Readonly<Record<string, string>>): Claim[] => [
  { hints: owner },
  { metadata: owner },
  { file: owner },
];

/** Puts an object and returns how its import ended. */
async function importOf(site: CustomerSite, { hints, metadata, file }: Claim) {
  const name = `${crypto.randomUUID()}.mcap`;
  await site.put(name, await anotherMcap(file), metadata);
  await site.note(name, hints);
  const request = (await requestsOf(site)).find(({ filename }) => filename === name) ?? assert.fail("no import");
  return { name, request, end: request.errorCode ?? request.status };
}

test("what is named of another organization is not there, however it is named, and nothing of it changes", {
  skip,
}, async () => {
  const site = await makeSite();
  const before = await stateOfOther();
  const { one, theirs } = ids;
  for (const [owner, end] of [
    [{ projectId: theirs }, "ProjectNotFound"],
    [{ projectId: theirs, deviceId: devices.theirs.id }, "ProjectNotFound"],
    [{ projectId: one, deviceId: devices.theirs.id }, "DeviceNotFound"],
    [{ deviceId: devices.theirs.id }, "ProjectRequired"],
  ] as const)
    for (const claim of saidOf(owner)) {
      const ended = await importOf(site, claim);
      assert.equal(ended.end, end, JSON.stringify(claim));
      assert.equal(ended.request.recordingId, undefined);
    }
  assert.deepEqual(await site.recordings(), []);
  assert.deepEqual(await stateOfOther(), before);
});

test("names, keys and sessions that both organizations have are each one's own", { skip }, async () => {
  const site = await makeSite();
  const before = await stateOfOther();
  const owner = { projectId: ids.one, deviceName: "robot", sessionKey: "drive", key: "first" };
  await other.call(api.sessions.create, { deviceId: devices.theirs.id, key: "theirs-too" });
  const [, ofMetadata, ofFile] = saidOf(owner);
  for (const claim of [ofMetadata!, { file: { ...ofFile!.file, key: "second", sessionKey: "theirs-too" } }])
    assert.equal((await importOf(site, claim)).end, "complete", JSON.stringify(claim));
  const recordings = await site.recordings();
  assert.deepEqual(new Set(recordings.map(({ device }) => device?.id)), new Set([devices.one.id]));
  const { sessions: _, ...left } = before;
  const { sessions, ...now } = await stateOfOther();
  assert.deepEqual(now, left);
  assert.deepEqual(
    sessions.flatMap(({ recordings: held }) => held),
    [],
  );
});

test("a site for one project takes nothing for another one, and who sees only that one sees nothing of it", {
  skip,
}, async () => {
  const site = await makeSite({ projectIds: [ids.one] });
  for (const [owner, end] of [
    [{ projectId: ids.two }, "ProjectNotOfSite"],
    [{ deviceId: devices.two.id }, "ProjectNotOfSite"],
    [{ projectId: ids.one, deviceId: devices.two.id }, "DeviceNotFound"],
  ] as const)
    for (const claim of saidOf(owner)) {
      const ended = await importOf(site, claim);
      assert.equal(ended.end, end, JSON.stringify(claim));
      const { requestId } = ended.request;
      for (const { client, token } of strangers()) {
        await assert.rejects(client.call(api.pendingImports.retry, { requestId }), isNotFound);
        assert.equal(await statusOf(token, `/v1/data/pending-imports/${requestId}/file`), 404);
      }
    }
  assert.equal((await importOf(site, { hints: { deviceName: "robot" } })).end, "complete");
  assert.deepEqual(
    (await site.recordings()).map(({ projectId, device }) => [projectId, device?.id]),
    [[ids.one, devices.one.id]],
  );
  for (const { client } of strangers()) {
    await assert.rejects(requestsOf(site, client), isNotFound);
    await assert.rejects(client.call(api.sites.get, { id: site.siteId }), isNotFound);
    const all = await client.call(api.pendingImports.list, { showCompleted: true, showQuarantined: true });
    assert.deepEqual(
      all.filter(({ siteId }) => siteId === site.siteId),
      [],
    );
  }
});

test("who sees one project of a site for all sees, reads and exports only what is of that project", {
  skip,
}, async () => {
  const site = await makeSite();
  const data = Buffer.from("calibrated");
  const attachments = [{ name: "calibration.txt", mediaType: "text/plain", data }];
  for (const projectId of [ids.one, ids.two])
    await site.put(`${projectId}.mcap`, await anotherMcap({ projectId }, { attachments }));
  await site.scan();
  const [ofOne, ofTwo] = [ids.one, ids.two].map((id) =>
    site.recordings().then((all) => all.filter(({ projectId }) => projectId === id)),
  );
  const [[own], [foreign]] = [await ofOne!, await ofTwo!];
  const client = cloud.withToken(tokens.one);
  const seen = (await client.call(api.recordings.list, {})).filter(({ site: at }) => at?.id === site.siteId);
  assert.deepEqual(
    seen.map(({ id }) => id),
    [own!.id],
  );
  assert.deepEqual(
    (await requestsOf(site, client)).map(({ recordingId }) => recordingId),
    [own!.id],
  );
  const [mine] = await client.call(api.attachments.list, { siteId: site.siteId });
  assert.equal(mine!.recordingId, own!.id);
  assert.equal(await textOf(tokens.one, `/v1/recording-attachments/${mine!.id}/download`), "calibrated");
  const theirs = (await cloud.admin.call(api.attachments.list, { recordingId: foreign!.id }))[0]!;
  const [request] = (await requestsOf(site)).filter(({ recordingId }) => recordingId === foreign!.id);
  for (const token of [tokens.one, tokens.theirs]) {
    const caller = cloud.withToken(token);
    await assert.rejects(caller.call(api.recordings.get, { keyOrId: foreign!.id }), isNotFound);
    await assert.rejects(caller.call(api.exports.create, { recordingId: foreign!.id }), isNotFound);
    await assert.rejects(caller.call(api.attachments.get, { id: theirs.id }), isNotFound);
    assert.equal(await statusOf(token, `/v1/recording-attachments/${theirs.id}/download`), 404);
    assert.equal(await statusOf(token, `/v1/data/pending-imports/${request!.requestId}/file`), 404);
    await assert.rejects(caller.call(api.recordings.delete, { keyOrId: foreign!.id }), isNotFound);
  }
  const limited = refusedWith("ProjectLimited");
  const { siteId: id } = site;
  await assert.rejects(client.call(api.ingestPathPolicies.get, { id }), limited);
  await assert.rejects(client.call(api.ingestPathPolicies.save, { id, schemaVersion: 1, rules: [] }), limited);
  await assert.rejects(client.call(api.inboxTokens.create, { siteId: id }), limited);
  await assert.rejects(client.call(api.sites.delete, { id }), limited);
});

test("another organization has no way to a site: no policy, no token, no notification, no deletion", {
  skip,
}, async () => {
  const site = await makeSite();
  const { siteId: id, bucket } = site;
  await site.put("a.mcap", await anotherMcap());
  await assert.rejects(other.call(api.ingestPathPolicies.get, { id }), isNotFound);
  await assert.rejects(other.call(api.ingestPathPolicies.save, { id, schemaVersion: 1, rules: [] }), isNotFound);
  await assert.rejects(other.call(api.inboxTokens.create, { siteId: id }), isNotFound);
  await assert.rejects(other.call(api.sites.update, { id, projectIds: [] }), isNotFound);
  await assert.rejects(other.call(api.sites.delete, { id }), isNotFound);
  const own = await makeSite({ orgId: otherOrgId });
  const { token } = await other.call(api.inboxTokens.create, { siteId: own.siteId });
  const theirs = { messageId: "m", bucketName: bucket, storageProvider: "s3_compatible", fileName: "a.mcap" } as const;
  await assert.rejects(cloud.withToken(token!).call(api.bucketNotifications.create, theirs), {
    code: "NotificationRefused",
  });
  const event = {
    s3: { bucket: { name: bucket }, object: { key: "a.mcap" } },
    eventName: "ObjectCreated:Put",
    eventSource: "ceph:s3",
  };
  const response = await fetch(`${cloud.url}/endpoints/inbox-notifications?token=${token}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ Records: [event] }),
  });
  await response.arrayBuffer();
  await own.settle();
  const { bucketObject } = cloud.deps.db.prisma;
  assert.equal(await bucketObject.count({ where: { siteId: { in: [id, own.siteId] } } }), 0);
});

test("of one bucket that is the site of two organizations each has recordings of its own", { skip }, async () => {
  const site = await makeSite({ projectIds: [ids.one] });
  const theirs = await makeSite({ orgId: otherOrgId, bucket: site.bucket });
  await site.put("a.mcap", await anotherMcap());
  for (const one of [site, theirs]) assert.equal(await one.scan(), undefined);
  const all = () => other.call(api.recordings.list, { siteId: theirs.siteId });
  const [[mine], [same]] = [await site.recordings(), await all()];
  assert.notEqual(mine!.id, same!.id);
  await cloud.admin.call(api.sites.delete, { id: site.siteId });
  assert.deepEqual(await all(), [same]);
});

test("Ceph's log knows of not one write or delete", { skip }, async () => {
  const calls = await ceph.callsOfReader();
  assert.deepEqual(
    calls.filter((call) => !/^(GET|HEAD) /.test(call)),
    [],
  );
  assert.ok(calls.length > 0);
});

const isNotFound = refusedWith(404);

async function textOf(token: string, path: string): Promise<string> {
  const response = await fetch(`${cloud.url}${path}`, { headers: { authorization: `Bearer ${token}` } });
  assert.equal(response.status, 200);
  return response.text();
}

async function statusOf(token: string, path: string): Promise<number> {
  const headers = { authorization: `Bearer ${token}` };
  const response = await fetch(`${cloud.url}${path}`, { headers, redirect: "manual" });
  await response.arrayBuffer();
  return response.status;
}
