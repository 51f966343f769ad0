import assert from "node:assert/strict";
import { test } from "node:test";
import { api } from "@downlink/protocol";
import { openStubSite } from "../../buckets/bucket-objects/testing/open-stub-site.ts";
import { anObject } from "../../buckets/bucket-objects/testing/stub-bucket.ts";
import { Browser, PASSWORD } from "../../organization/sign-in/testing/browser.ts";
import { noteEntries } from "../../recovery/note-entries.ts";
import { findLost } from "./find-lost.ts";
import { replayLedger } from "./replay-ledger.ts";
import { startRestorable, storeRecordingOf } from "./testing/start-restorable.ts";

const never = new AbortController().signal;

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
  const { passwordHash } = await prisma.account.findFirstOrThrow({ where: { email } });
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
