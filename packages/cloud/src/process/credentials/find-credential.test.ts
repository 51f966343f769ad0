import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { ApiCallError } from "@downlink/client";
import { api } from "@downlink/protocol";
import { sqlState } from "../../db/sql-state.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { createTestDatabase } from "../../testing/test-database.ts";

const DATABASE_URL = await createTestDatabase({ after });
const cloud = await startCloud({ after }, { works: false, environment: { DATABASE_URL } });
const { admin } = cloud;
const { db } = cloud.deps;
const CHECK_VIOLATION = "23514";

/** Mints a token of each kind, together with the action that takes it away. */
async function mintAll() {
  const { id: deviceId, projectId } = await admin.call(api.devices.create, { name: "robot" });
  const site = await admin.call(api.sites.create, { name: "edge", type: "edge" });
  const hosted = await admin.call(api.sites.create, { name: "hosted", type: "self-hosted" });
  const key = await admin.call(api.apiKeys.create, { name: "key", capabilities: ["devices.list"] });
  const ofDevice = await admin.call(api.deviceTokens.create, { deviceId });
  const ofProject = await admin.call(api.deviceTokens.create, { projectId });
  const ofSite = await admin.call(api.siteTokens.create, { siteId: site.id });
  const ofInbox = await admin.call(api.inboxTokens.create, { siteId: hosted.id });
  return [
    { token: key.token!, remove: () => admin.call(api.apiKeys.delete, { id: key.id }) },
    { token: ofDevice.token!, remove: () => admin.call(api.devices.delete, { nameOrId: deviceId }) },
    { token: ofProject.token!, remove: () => admin.call(api.deviceTokens.delete, { id: ofProject.id }) },
    { token: ofSite.token!, remove: () => admin.call(api.sites.delete, { id: site.id }) },
    { token: ofInbox.token!, remove: () => admin.call(api.inboxTokens.delete, { id: ofInbox.id }) },
  ];
}

/** Returns the code of a refused call: either the token is known and not allowed here, or it is unknown. */
async function codeOf(token: string): Promise<string | undefined> {
  const refused = await cloud
    .withToken(token)
    .call(api.sites.list, {})
    .catch((error: ApiCallError) => error);
  return (refused as ApiCallError).code;
}

test("a token of any kind is unknown as soon as it, or what it belongs to, is deleted, and leaves no credential", async () => {
  const before = await db.prisma.credential.count();
  const minted = await mintAll();
  assert.equal(await db.prisma.credential.count(), before + minted.length);
  for (const { token, remove } of minted) {
    assert.notEqual(await codeOf(token), "Unauthenticated");
    await remove();
    assert.equal(await codeOf(token), "Unauthenticated");
  }
  assert.equal(await db.prisma.credential.count(), before);
});

test("the database itself refuses a credential that belongs to no token, and one that belongs to two", async () => {
  const { id: apiKeyId } = await admin.call(api.apiKeys.create, { name: "one", capabilities: ["devices.list"] });
  const { id: deviceId } = await admin.call(api.devices.create, { name: "two" });
  const { id: deviceTokenId } = await admin.call(api.deviceTokens.create, { deviceId });
  await db.prisma.credential.deleteMany({ where: { OR: [{ apiKeyId }, { deviceTokenId }] } });
  for (const opened of [{}, { apiKeyId, deviceTokenId }])
    await assert.rejects(
      db.prisma.credential.create({ data: { tokenSha256: "both", ...opened } }),
      (error) => sqlState(error) === CHECK_VIOLATION,
    );
});

test("a process whose preset admin key is a token of another kind does not start; with a key that it knows it does", async (t) => {
  const { id: projectId } = await admin.call(api.projects.create, { name: "of the token" });
  const { token } = await admin.call(api.deviceTokens.create, { projectId });
  const startWith = (DOWNLINK_ADMIN_KEY: string) =>
    startCloud(t, { works: false, dataDir: cloud.dataDir, environment: { DATABASE_URL, DOWNLINK_ADMIN_KEY } });
  await assert.rejects(startWith(token!), /DOWNLINK_ADMIN_KEY: is a token of another kind/);
  await startWith(cloud.adminKey);
});
