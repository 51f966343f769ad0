import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { ApiCallError } from "@downlink/client";
import { api } from "@downlink/protocol";
import { makeMcap } from "@downlink/recordings/testing";
import { listFound } from "../adoption/list-found.ts";
import { openStubSite } from "../bucket-objects/testing/open-stub-site.ts";
import { anObject } from "../bucket-objects/testing/stub-bucket.ts";
import { newId } from "../db/ids.ts";
import { isDatabaseAway } from "../db/sql-state.ts";
import { withTransaction } from "../db/transaction.ts";
import { forgetOldEntries, noteEntries } from "../ledger/note-entries.ts";
import { Browser, PASSWORD } from "../sign-in/testing/browser.ts";
import { copyDatabase, dropDatabase, restoreDatabase } from "../testing/set-back.ts";
import { startCloud, type TestCloud } from "../testing/start-cloud.ts";
import { askForFile, eventually, helloBody } from "../testing/test-agent.ts";
import { createTestDatabase } from "../testing/test-database.ts";
import { uploadFile } from "../testing/upload-file.ts";
import { findLost } from "./find-lost.ts";
import { replayLedger } from "./replay-ledger.ts";

const never = new AbortController().signal;

/** Starts a control plane whose database can be set back while it runs. */
async function startRestorable(t: TestContext) {
  const url = await createTestDatabase(t);
  const cloud = await startCloud(t, { environment: { DATABASE_URL: url } });
  const { prisma } = cloud.deps.db;
  await prisma.$executeRaw`DELETE FROM pgboss.schedule`; // otherwise the walk through the store would replay the ledger, too
  const isBack = async () => {
    try {
      return (await prisma.$queryRaw`SELECT 1`) !== undefined;
    } catch (error) {
      if (isDatabaseAway(error)) return false;
      throw error;
    }
  };
  const ready = async () => {
    for (let at = 0; at < 30; at++) await eventually(isBack, Boolean); // by then every connection of the pool is a new one
  };
  const backup = async () => {
    const copy = await copyDatabase(url);
    t.after(() => dropDatabase(copy));
    await ready();
    return copy;
  };
  const restore = async (copy: string) => {
    await restoreDatabase(url, copy);
    await ready();
  };
  const notes = () => Array.fromAsync(cloud.deps.blobs.listNotes("ledger/"), ({ key }) => key);
  return { ...cloud, prisma, backup, restore, notes, replay: () => replayLedger(cloud.deps, never) };
}

const refusedWith = (code: string) => (error: ApiCallError) => error.code === code;

test("what is created, revoked or deleted is in the store before the answer is sent, without any secret", async (t) => {
  const { admin, notes, deps } = await startRestorable(t);
  const read = async () => {
    const texts = await Promise.all((await notes()).sort().map((key) => deps.blobs.getNote(key)));
    return texts.map((bytes) => JSON.parse(Buffer.from(bytes!).toString()) as { kind: string; subject: string });
  };
  const kindsOf = async (id: string) => (await read()).filter(({ subject }) => subject === id).map(({ kind }) => kind);
  const device = await admin.call(api.devices.create, { name: "robot" });
  assert.deepEqual(await kindsOf(device.id), ["Device.insert"]);
  const { id, token } = await admin.call(api.deviceTokens.create, { deviceId: device.id });
  await admin.call(api.deviceTokens.update, { id, enabled: false });
  await admin.call(api.deviceTokens.delete, { id });
  assert.deepEqual(await kindsOf(id), ["DeviceToken.insert", "DeviceToken.update", "DeviceToken.delete"]);
  assert.ok(!JSON.stringify(await read()).includes(token!));
  await admin.call(api.devices.delete, { nameOrId: device.id });
  assert.deepEqual(await kindsOf(device.id), ["Device.insert", "Device.delete"]);
});

test("a change is answered even if the store accepts nothing, and is written there later", async (t) => {
  const { admin, prisma, deps } = await startRestorable(t);
  const putNote = deps.blobs.putNote;
  deps.blobs.putNote = () => Promise.reject(new Error("EIO"));
  const { id } = await admin.call(api.devices.create, { name: "robot" });
  const isNoted = async () => (await prisma.ledgerEntry.findFirstOrThrow({ where: { subject: id } })).isNoted;
  assert.equal(await isNoted(), false);
  deps.blobs.putNote = putNote;
  await noteEntries(deps);
  assert.equal(await isNoted(), true);
});

test("after a restore a token that was revoked stays revoked, and what was created since the backup exists again", async (t) => {
  const { admin, withToken, backup, restore, replay } = await startRestorable(t);
  const { token: revoked, id: revokedId } = await admin.call(api.apiKeys.create, { name: "old", capabilities: ["*"] });
  const limited = await admin.call(api.apiKeys.create, { name: "less", capabilities: ["*"] });
  const { id: disabledId, token: disabled } = await admin.call(api.apiKeys.create, {
    name: "off",
    capabilities: ["*"],
  });
  const gone = await admin.call(api.devices.create, { name: "gone" });
  const copy = await backup();

  await admin.call(api.apiKeys.delete, { id: revokedId });
  await admin.call(api.apiKeys.update, { id: disabledId, enabled: false });
  await admin.call(api.apiKeys.update, { id: limited.id, capabilities: ["devices.list"] });
  await admin.call(api.devices.delete, { nameOrId: gone.id });
  const made = await admin.call(api.devices.create, { name: "made" });
  const { token: enrolled } = await admin.call(api.deviceTokens.create, { deviceId: made.id });
  const brief = await admin.call(api.devices.create, { name: "brief" });
  await admin.call(api.devices.delete, { nameOrId: brief.id });
  const key = await admin.call(api.apiKeys.create, { name: "new", capabilities: ["devices.list"] });
  const project = await admin.call(api.projects.create, { name: "new" });

  await restore(copy);
  await replay();
  for (const token of [revoked!, disabled!])
    await assert.rejects(withToken(token).call(api.devices.list, {}), refusedWith("Unauthenticated"));
  await assert.rejects(withToken(limited.token!).call(api.apiKeys.list, {}), refusedWith("MissingCapability"));
  const names = (await withToken(key.token!).call(api.devices.list, {})).map(({ name }) => name);
  assert.deepEqual(names, ["made"]);
  assert.ok((await admin.call(api.projects.list, {})).some(({ id }) => id === project.id));
  const { device } = await withToken(enrolled!).call(api.edge.hello, helloBody());
  assert.equal(device?.id, made.id);
  const before = await admin.call(api.devices.get, { nameOrId: made.id });
  await replay();
  assert.deepEqual(await admin.call(api.devices.get, { nameOrId: made.id }), before, "once is enough");
});

test("data that was deleted stays deleted after a restore, and its object does not become a recording again", async (t) => {
  const cloud = await startRestorable(t);
  const { admin, prisma, deps, backup, restore, replay } = cloud;
  const [kept, deleted] = await Promise.all([1, 2].map((seed) => upload(seed)));
  async function upload(seed: number) {
    const file = await makeMcap({ seed, startNs: BigInt(seed) * 1_000_000_000_000n });
    const { recordingId } = await uploadFile(cloud, file, { filename: `${seed}.mcap`, deviceName: `robot-${seed}` });
    return prisma.recording.findUniqueOrThrow({ where: { id: recordingId! } });
  }
  const copy = await backup();
  await admin.call(api.recordings.delete, { keyOrId: deleted!.id });
  await restore(copy);
  assert.ok(await prisma.recording.findUnique({ where: { id: deleted!.id } }));
  await replay();
  assert.equal(await prisma.recording.findUnique({ where: { id: deleted!.id } }), null);
  assert.ok(await prisma.recording.findUnique({ where: { id: kept!.id } }));
  await listFound(deps, never);
  const found = await prisma.foundUpload.findMany();
  assert.deepEqual(found, [], "the walk through the store does not list it as lost");
});

test("after a restore a member who was removed is so again, who was made a user is none but that, and used invitations are used", async (t) => {
  const cloud = await startRestorable(t);
  const { admin, prisma, deps, backup, restore, replay, notes } = cloud;
  const newcomer = async (email: string) => {
    const { link } = await admin.call(api.invitations.create, { email, role: "admin" });
    const browser = new Browser(cloud);
    return { email, link: link!, browser, accept: () => browser.accept(link!) };
  };
  const names = ["chief", "removed", "kept", "late", "withdrawn"];
  const people = await Promise.all(names.map((name) => newcomer(`${name}@example.org`)));
  const [chief, removed, kept, late, withdrawn] = people;
  for (const one of [chief!, removed!, kept!]) assert.equal((await one.accept()).status, 200);
  const copy = await backup();
  await late!.accept();
  const members = await admin.call(api.members.list, {});
  const idOf = (email: string) => members.find((one) => one.email === email)!.id;
  await admin.call(api.members.delete, { id: idOf(late!.email) });
  await admin.call(api.members.delete, { id: idOf(removed!.email) });
  await admin.call(api.members.update, { id: idOf(kept!.email), role: "user" });
  const [left] = await admin.call(api.invitations.list, {});
  await admin.call(api.invitations.delete, { id: left!.id });
  const texts = await Promise.all((await notes()).map((key) => deps.blobs.getNote(key)));
  assert.ok(!texts.some((bytes) => Buffer.from(bytes!).toString().includes("@example.org")));

  await restore(copy);
  await replay();
  assert.deepEqual(
    (await admin.call(api.members.list, {})).map(({ email, role }) => [email, role]),
    [
      [chief!.email, "admin"],
      [kept!.email, "user"],
    ],
  );
  assert.equal(await prisma.account.count(), 2);
  for (const { browser } of [removed!, late!]) assert.equal((await browser.ask({ path: "/v1/me" })).status, 401);
  for (const { link } of [late!, withdrawn!]) assert.equal((await new Browser(cloud).accept(link)).status, 401);
  assert.equal((await (await newcomer(removed!.email)).accept()).status, 200);
});

test("after a restore a password that was replaced opens nothing, and its account has none until somebody gives it one", async (t) => {
  const cloud = await startRestorable(t);
  const { admin, prisma, backup, restore, replay, deps, notes } = cloud;
  const email = "ada@example.org";
  const { link } = await admin.call(api.invitations.create, { email, role: "user" });
  await new Browser(cloud).accept(link!);
  const { id } = (await admin.call(api.members.list, {}))[0]!;
  const before = await admin.call(api.members.resetPassword, { id });
  const copy = await backup();
  const redeem = (of: string, password: string) => {
    const body = { token: of.split("#")[1], password };
    return new Browser(cloud).ask({ method: "POST", path: "/v1/session/reset", body });
  };
  assert.equal((await redeem(before.link, "staple correct horse")).status, 200);
  const { passwordHash } = await prisma.account.findUniqueOrThrow({ where: { email } });
  const texts = await Promise.all((await notes()).map((key) => deps.blobs.getNote(key)));
  assert.ok(!texts.some((bytes) => Buffer.from(bytes!).toString().includes(passwordHash!)));

  await restore(copy);
  await replay();
  for (const password of [PASSWORD, "staple correct horse"])
    assert.equal((await new Browser(cloud).signIn({ email, password })).status, 401);
  const after = await admin.call(api.members.resetPassword, { id });
  assert.equal((await redeem(after.link, "third correct horse")).status, 200);
  assert.equal((await new Browser(cloud).signIn({ email, password: "third correct horse" })).status, 200);
});

test("after a restore a project that was closed is closed again, and has the members that it had last", async (t) => {
  const cloud = await startRestorable(t);
  const { admin, prisma, backup, restore, replay } = cloud;
  const newMember = async (name: string) => {
    const { link } = await admin.call(api.invitations.create, { email: `${name}@example.org`, role: "user" });
    const browser = new Browser(cloud);
    await browser.accept(link!);
    return ((await browser.ask({ path: "/v1/me" })).json as { id: string }).id;
  };
  const [kept, taken, added] = [await newMember("kept"), await newMember("taken"), await newMember("added")];
  const removed = await newMember("removed");
  const closed = await admin.call(api.projects.create, { name: "closed later" });
  const opened = await admin.call(api.projects.create, { name: "opened later", isInviteOnly: true });
  const secret = await admin.call(api.projects.create, { name: "secret", isInviteOnly: true });
  await admin.call(api.projectMembers.put, { id: secret.id, memberIds: [kept, taken] });
  const copy = await backup();
  const late = await newMember("late");
  await admin.call(api.projects.update, { id: closed.id, isInviteOnly: true });
  await admin.call(api.projects.update, { id: opened.id, isInviteOnly: false });
  await admin.call(api.projectMembers.put, { id: closed.id, memberIds: [taken, late, removed] });
  await admin.call(api.members.delete, { id: removed });
  await admin.call(api.projectMembers.put, { id: secret.id, memberIds: [taken, added] });
  await admin.call(api.projectMembers.put, { id: secret.id, memberIds: [added, kept] });
  const noted = await prisma.ledgerEntry.count({ where: { kind: "ProjectMembers.put", subject: closed.id } });
  assert.equal(noted, 1, "many members are one entry, and a member who is removed from all is none");

  await restore(copy);
  await replay();
  const projects = await admin.call(api.projects.list, {});
  const isClosed = (id: string) => projects.find((project) => project.id === id)!.isInviteOnly;
  assert.deepEqual([closed.id, opened.id, secret.id].map(isClosed), [true, false, true]);
  const membersOf = async (id: string) => (await admin.call(api.projectMembers.get, { id })).memberIds;
  assert.deepEqual(await membersOf(closed.id), [taken]);
  assert.deepEqual(await membersOf(secret.id), [kept, added].sort());
});

test("a recording that was requested before the backup and deleted after it is not requested again", async (t) => {
  const cloud = await startRestorable(t);
  const { admin, prisma, backup, restore, replay } = cloud;
  const { recordingId, requestId } = await askForFile(cloud, "robot");
  const copy = await backup();
  await admin.call(api.recordings.delete, { keyOrId: recordingId });
  await restore(copy);
  await replay();
  const { state } = await prisma.importRequest.findUniqueOrThrow({ where: { id: requestId } });
  const { importStatus } = await prisma.recording.findUniqueOrThrow({ where: { id: recordingId } });
  assert.deepEqual([state, importStatus], ["cancelled", "none"]);
});

test("the ledger is kept for as long as backups are, in the store and in the database", async (t) => {
  const { admin, notes, prisma, deps } = await startRestorable(t);
  await noteEntries(deps);
  const old = await notes();
  const cutoffNs = BigInt(Date.now() + 1) * 1_000_000n;
  await eventually(
    async () => BigInt(Date.now()) * 1_000_000n,
    (nowNs) => nowNs > cutoffNs,
  );
  const { id } = await admin.call(api.devices.create, { name: "later" });
  await forgetOldEntries(deps, cutoffNs);
  assert.ok(old.length > 3);
  assert.equal((await notes()).length, 1);
  assert.deepEqual(
    (await prisma.ledgerEntry.findMany()).map(({ subject }) => subject),
    [id],
  );
});

test("what was created since a copy of the same minute shows that the database was set back to it", async (t) => {
  const { admin, deps, backup, restore } = await startRestorable(t);
  const copy = await backup();
  assert.equal(await findLost(deps, 0), undefined);
  await admin.call(api.devices.create, { name: "created-since" });
  assert.equal(await findLost(deps, 0), undefined);
  await restore(copy);
  assert.match((await findLost(deps, 0))!, /^entry \d{19}-\w+ of the ledger$/);
  assert.equal(await findLost(deps, Date.now() + 60_000), undefined, "it is older than what is asked for");
  await replayLedger(deps, never);
  assert.equal(await findLost(deps, 0), undefined);
});

test("if the operator sets how long backups are kept, an object is removed only when no backup can need it any more", async (t) => {
  const cloud = await startCloud(t, { environment: { DOWNLINK_BACKUP_RETENTION: "7d" } });
  const { db, jobs } = cloud.deps;
  const remove = (blobKey: string, delaySeconds?: number) =>
    withTransaction(db, (tx) =>
      jobs.enqueue(tx, { name: "remove-object", data: { blobKey }, ...(delaySeconds && { delaySeconds }) }),
    );
  await remove("org/later");
  await remove("org/soon", 60);
  const rows = await db.prisma.$queryRaw<{ key: string; days: number }[]>`
    SELECT data ->> 'blobKey' AS key, round(extract(epoch FROM start_after - created_on) / 86400)::int AS days
    FROM pgboss.job WHERE name = 'remove-object.2' ORDER BY key`;
  assert.deepEqual(rows, [
    { key: "org/later", days: 7 },
    { key: "org/soon", days: 0 },
  ]);
});

test("what was said of a customer's bucket since is so again, and what was deleted of it is not imported again", async (t) => {
  const restorable = await startRestorable(t);
  const { admin, prisma, deps } = restorable;
  const copy = await restorable.backup();
  const { siteId, ...site } = await openStubSite(restorable);
  const deleted = await openStubSite(restorable);
  const objects = { deleted: anObject(), left: anObject() };
  for (const [name, object] of Object.entries(objects)) site.stub.objects.set(name, object);
  for (const name of Object.keys(objects)) await site.look(name);
  await site.save([{ pattern: "*", action: { type: "import" } }]);
  const [object] = await site.rows();
  const recordingId = await storeRecordingOf(restorable, object!);
  await admin.call(api.recordings.delete, { keyOrId: recordingId });
  await admin.call(api.sites.delete, { id: deleted.siteId });
  await noteEntries(deps);

  await restorable.restore(copy);
  await restorable.replay();
  const sites = await prisma.siteBucket.findMany();
  assert.deepEqual(
    sites.map((one) => one.siteId),
    [siteId],
  );
  assert.equal((await admin.call(api.ingestPathPolicies.get, { id: siteId })).revision, 1);
  assert.deepEqual(await site.shown(), [["deleted", "requested"]]);
  assert.equal(await site.scan(), undefined);
  assert.deepEqual(
    (await site.requests()).map(({ filename }) => filename),
    ["left"],
  );
});

test("what the backup knows as ignored, and was imported and deleted since, is not imported again", async (t) => {
  const restorable = await startRestorable(t);
  const { admin, deps } = restorable;
  const site = await openStubSite(restorable);
  await site.save([{ pattern: "*", action: { type: "ignore" } }]);
  site.stub.objects.set("object", anObject());
  await site.scan();
  assert.deepEqual(await site.shown(), [["object", "ignored"]]);
  const copy = await restorable.backup();
  await site.save([{ pattern: "*", action: { type: "import" } }]);
  await site.scan();
  assert.deepEqual(await site.shown(), [["object", "requested"]]);
  const [object] = await site.rows();
  await admin.call(api.recordings.delete, { keyOrId: await storeRecordingOf(restorable, object!) });
  await noteEntries(deps);

  await restorable.restore(copy);
  await restorable.replay();
  assert.deepEqual(await site.shown(), [["object", "requested"]]);
  await site.scan();
  assert.deepEqual(await site.requests(), []);
});

/** Stores a recording whose bytes are the object of a customer's bucket. */
async function storeRecordingOf({ deps }: TestCloud, { orgId, id }: { orgId: string; id: string }): Promise<string> {
  const { prisma } = deps.db;
  const { id: projectId } = await prisma.project.findFirstOrThrow({ where: { orgId } });
  const span = { startNs: 1n, endNs: 2n, durationNs: 1n, messageCount: 1n, metadata: [] };
  const file = { format: "mcap", sizeBytes: 1n, path: "deleted", isEdge: false } as const;
  const data = { importStatus: "complete", blobKey: `${orgId}/${id}`, location: "{}", createdAtNs: 1n } as const;
  return (await prisma.recording.create({ data: { id: newId("rec"), orgId, projectId, ...span, ...file, ...data } }))
    .id;
}

test("a customer's bucket whose site was deleted since is nobody's again, and its recordings are unavailable", async (t) => {
  const restorable = await startRestorable(t);
  const { admin, prisma, deps } = restorable;
  const site = await openStubSite(restorable);
  site.stub.objects.set("a", anObject());
  await site.look("a");
  const [object] = await site.rows();
  const recordingId = await storeRecordingOf(restorable, object!);
  await prisma.recording.update({ where: { id: recordingId }, data: { siteId: site.siteId } });
  const copy = await restorable.backup();
  await admin.call(api.sites.delete, { id: site.siteId });
  await noteEntries(deps);
  await restorable.restore(copy);
  await restorable.replay();
  assert.deepEqual(await prisma.siteBucket.findMany(), []);
  const { importStatus, failureCode, blobKey } = await prisma.recording.findUniqueOrThrow({
    where: { id: recordingId },
  });
  assert.deepEqual([importStatus, failureCode, blobKey], ["failed", "SiteDeleted", null]);
});
