import assert from "node:assert/strict";
import { after, beforeEach, test } from "node:test";
import type { Client } from "@downlink/client";
import { api, type Capability, ErrorBody, MAX_VIEW_LINKS, MAX_VIEW_SECONDS } from "@downlink/protocol";
import { makeMcap } from "@downlink/recordings/testing";
import { newId } from "../../db/ids.ts";
import { forgetViewLinks } from "../../keeping/sweep/forget-rows.ts";
import { endUnseenLinks } from "../../organization/projects/end-unseen-links.ts";
import { Browser } from "../../organization/sign-in/testing/browser.ts";
import { untilBlocking } from "../../testing/lock-waits.ts";
import { refusedWith } from "../../testing/refused-with.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { recordingItem, startAgent } from "../../testing/test-agent.ts";
import { createRunningClock } from "../../testing/test-clock.ts";
import { uploadFile } from "../../testing/upload-file.ts";

const SECOND = 1_000_000_000n;
const clock = createRunningClock();
const cloud = await startCloud({ after }, { clock });
const { admin } = cloud;
const { prisma } = cloud.deps.db;
const file = await makeMcap({ durationSeconds: 1 });
const first = await uploadFile(cloud, file, { filename: "a.mcap", deviceName: "robot", key: "drive" });
const recordingId = first.recordingId!;
const { projectId } = await prisma.recording.findUniqueOrThrow({ where: { id: recordingId } });
const viewer: Capability[] = ["viewLinks.create", "viewLinks.list", "viewLinks.delete"];
const idsOf = async (client: Client, more = {}) => (await client.call(api.viewLinks.list, more)).map(({ id }) => id);

beforeEach(() => prisma.viewLink.deleteMany());

async function newKey(more: { projectIds?: string[]; expiresAt?: bigint } = {}) {
  const { id, token } = await admin.call(api.apiKeys.create, { name: "viewer", capabilities: viewer, ...more });
  return { id, client: cloud.withToken(token!) };
}

async function statusOf(link: string): Promise<[number, string | undefined]> {
  const response = await fetch(link);
  if (response.status !== 200) return [response.status, ErrorBody.parse(await response.json()).code];
  await response.arrayBuffer();
  return [200, undefined];
}

const ended = [403, "LinkExpired"];

test("a view link is listed without its text, in the order of creation, and ends when it is deleted", async () => {
  const { id: keyId, client } = await newKey();
  const made = await client.call(api.viewLinks.create, { recordingId, topics: ["/imu", "/nothing"], lifeSeconds: 60 });
  const { link, unknownTopics, viewers, ...shown } = made;
  assert.deepEqual(viewers, []);
  assert.deepEqual(unknownTopics, ["/nothing"]);
  assert.equal(shown.expiresAt, shown.createdAt + 60n * SECOND);
  assert.deepEqual(
    [shown.projectId, shown.recordingCount, shown.createdBy],
    [projectId, 1, { kind: "apiKey", id: keyId, name: "viewer" }],
  );
  const { id: second } = await client.call(api.viewLinks.create, { recordingKey: "drive" });
  const [listed] = await client.call(api.viewLinks.list, {});
  assert.deepEqual(listed, shown);
  assert.deepEqual(await idsOf(client), [made.id, second]);
  assert.deepEqual(await idsOf(client, { limit: 1, offset: 1 }), [second]);
  assert.deepEqual(await statusOf(link), [200, undefined]);
  assert.deepEqual(await admin.call(api.viewLinks.delete, { id: made.id }), { id: made.id });
  assert.deepEqual(await statusOf(link), ended);
  assert.deepEqual(await idsOf(client), [second]);
  await assert.rejects(client.call(api.viewLinks.delete, { id: made.id }), refusedWith("NotFound"));
});

test("a view link lives for ten minutes at most, and no longer than the key that made it", async () => {
  const longest = await admin.call(api.viewLinks.create, { recordingId });
  assert.equal(longest.expiresAt, longest.createdAt + BigInt(MAX_VIEW_SECONDS) * SECOND);
  const keyEnd = clock.nowNs() + 30n * SECOND;
  const brief = await (await newKey({ expiresAt: keyEnd })).client.call(api.viewLinks.create, { recordingId });
  assert.equal(brief.expiresAt, keyEnd);
  clock.aheadNs += 31_000_000_000n;
  assert.deepEqual(await statusOf(brief.link), ended);
  assert.deepEqual(await statusOf(longest.link), [200, undefined]);
  clock.aheadNs += 570_000_000_000n;
  assert.deepEqual(await statusOf(longest.link), ended);
  assert.deepEqual(await idsOf(admin), []);
  await assert.rejects(admin.call(api.viewLinks.delete, { id: longest.id }), refusedWith("NotFound"));
  await forgetViewLinks(cloud.deps.db, clock.nowNs());
  assert.equal(await prisma.viewLink.count(), 0);
});

for (const [how, end] of Object.entries({
  deleted: (id: string) => admin.call(api.apiKeys.delete, { id }),
  disabled: (id: string) => admin.call(api.apiKeys.update, { id, enabled: false }),
  "not allowed to make view links any more": (id: string) =>
    admin.call(api.apiKeys.update, { id, capabilities: ["viewLinks.list"] }),
  "opened by another text": (apiKeyId: string) =>
    prisma.credential.update({ where: { apiKeyId }, data: { tokenSha256: newId("key") } }),
}))
  test(`a view link ends at once when the key that made it is ${how}, and another key's does not`, async () => {
    const { id, client } = await newKey();
    const { link } = await client.call(api.viewLinks.create, { recordingId });
    const kept = await admin.call(api.viewLinks.create, { recordingId });
    await end(id);
    assert.deepEqual(await statusOf(link), ended);
    assert.deepEqual(await idsOf(admin), [kept.id]);
    assert.deepEqual(await statusOf(kept.link), [200, undefined]);
  });

test("a key that is enabled again restores no links, and one that is renamed or may do more keeps its own", async () => {
  const { id, client } = await newKey();
  const { link } = await client.call(api.viewLinks.create, { recordingId });
  await admin.call(api.apiKeys.update, { id, name: "renamed", capabilities: [...viewer, "devices.list"] });
  assert.deepEqual(await statusOf(link), [200, undefined]);
  await admin.call(api.apiKeys.update, { id, enabled: false });
  await admin.call(api.apiKeys.update, { id, enabled: true });
  assert.deepEqual(await statusOf(link), ended);
});

test("no link is created after its key is disabled, even if both happen at the same moment", async () => {
  const { id, client } = await newKey();
  let creating: Promise<unknown> | undefined;
  await prisma.$transaction(async (tx) => {
    await tx.apiKey.update({ where: { id }, data: { enabled: false } });
    creating = assert.rejects(client.call(api.viewLinks.create, { recordingId }), refusedWith("Unauthenticated"));
    await untilBlocking(cloud.deps.db, tx);
  });
  await creating;
  assert.equal(await prisma.viewLink.count(), 0);
});

test("no link is created after its project is closed to its maker, even if both happen at the same moment", async (t) => {
  const { link } = await admin.call(api.invitations.create, { email: "viewer@example.org", role: "user" });
  const browser = new Browser(cloud);
  await browser.accept(link!);
  const create = () => browser.ask({ method: "POST", path: api.viewLinks.create.path, body: { recordingId } });
  assert.equal((await create()).status, 200);
  const setClosed = (tx: Pick<typeof prisma, "project">, isInviteOnly: boolean) =>
    tx.project.update({ where: { id: projectId }, data: { isInviteOnly } });
  t.after(() => setClosed(prisma, false));
  let creating: ReturnType<typeof create> | undefined;
  await prisma.$transaction(async (tx) => {
    const { orgId } = await setClosed(tx, true);
    creating = create();
    await Promise.race([untilBlocking(cloud.deps.db, tx), creating]);
    await endUnseenLinks(tx, orgId);
  });
  assert.equal((await creating!).status, 404);
  assert.equal(await prisma.viewLink.count(), 0);
});

test("another organization sees no links, and a key of another project can neither see, end nor create one", async () => {
  const { id: another } = await admin.call(api.projects.create, { name: "another" });
  const made = await admin.call(api.viewLinks.create, { recordingId });
  const stranger = await cloud.otherOrganization();
  const { client: outside } = await newKey({ projectIds: [another] });
  for (const client of [stranger, outside]) {
    assert.deepEqual(await idsOf(client), []);
    await assert.rejects(client.call(api.viewLinks.delete, { id: made.id }), refusedWith("NotFound"));
    await assert.rejects(client.call(api.viewLinks.create, { recordingId }), refusedWith("NotFound"));
    await assert.rejects(client.call(api.viewLinks.list, { projectId }), refusedWith("NotFound"));
  }
  const { client: within } = await newKey({ projectIds: [projectId] });
  const own = await within.call(api.viewLinks.create, { recordingId });
  assert.deepEqual(await idsOf(within), [made.id, own.id]);
  assert.deepEqual(await idsOf(admin, { projectId: another }), []);
  assert.deepEqual(await within.call(api.viewLinks.delete, { id: made.id }), { id: made.id });
});

test("an API key has at most a hundred links; more are 409 until one ends, even if several calls come at the same moment", async () => {
  const { client } = await newKey();
  const { id } = await client.call(api.viewLinks.create, { recordingId });
  const row = await prisma.viewLink.findUniqueOrThrow({ where: { id } });
  const copies = Array.from({ length: MAX_VIEW_LINKS - 3 }, () => ({ ...row, id: newId("view") }));
  await prisma.viewLink.createMany({ data: copies });
  const outcomes = await Promise.allSettled([1, 2, 3, 4].map(() => client.call(api.viewLinks.create, { recordingId })));
  assert.equal(outcomes.filter(({ status }) => status === "fulfilled").length, 2);
  await assert.rejects(client.call(api.viewLinks.create, { recordingId }), refusedWith(409, /has 100 view links/));
  await admin.call(api.viewLinks.create, { recordingId });
  await client.call(api.viewLinks.delete, { id });
  await client.call(api.viewLinks.create, { recordingId });
  clock.aheadNs += 600_000_000_000n;
  await client.call(api.viewLinks.create, { recordingId });
  assert.equal((await idsOf(client)).length, 1);
});

test("wrong input is refused with a message that names it, and creates nothing", async () => {
  const headers = { authorization: `Bearer ${cloud.adminKey}`, "content-type": "application/json" };
  for (const [body, sentence] of [
    [{}, /a selector is required: recordingId/],
    [{ recordingId, lifeSeconds: 601 }, /lifeSeconds must be .*600/],
    [{ recordingId, lifeSeconds: 0 }, /lifeSeconds must be .*1/],
    [{ recordingId, lifeSeconds: 1.5 }, /lifeSeconds must be a whole number/],
    [{ deviceName: "robot" }, /start is required where a device alone is selected/],
    [{ recordingId, outputFormat: "bag1" }, /was not recorded as a bag/],
  ] as const) {
    const response = await fetch(`${cloud.url}/v1/view-links`, { method: "POST", headers, body: JSON.stringify(body) });
    assert.equal(response.status, 400);
    assert.match(ErrorBody.parse(await response.json()).error, sentence);
  }
  const agent = await startAgent(cloud, "edge-only", projectId);
  await agent.report([recordingItem({ key: "at-edge" })]);
  for (const [recordingKey, code] of Object.entries({ "at-edge": "NoStreamableRecordings", unknown: "NotFound" }))
    await assert.rejects(admin.call(api.viewLinks.create, { recordingKey }), refusedWith(code));
  assert.equal(await prisma.viewLink.count(), 0);
});

test("a repeat with the same Idempotency-Key answers the same link, and 404 once that has ended", async () => {
  const headers = {
    authorization: `Bearer ${cloud.adminKey}`,
    "content-type": "application/json",
    "idempotency-key": "view",
  };
  const send = () =>
    fetch(`${cloud.url}/v1/view-links`, { method: "POST", headers, body: JSON.stringify({ recordingId }) });
  const answered = await send();
  assert.equal(answered.headers.get("cache-control"), "no-store");
  const made = (await answered.json()) as { id: string; link: string };
  const repeated = (await (await send()).json()) as typeof made;
  assert.deepEqual(repeated, made);
  assert.deepEqual(
    (await prisma.keptAnswer.findMany()).map(({ body, madeId }) => [body, madeId]),
    [[null, made.id]],
  );
  await admin.call(api.viewLinks.delete, { id: made.id });
  assert.equal((await send()).status, 404);
});
