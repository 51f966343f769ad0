import assert from "node:assert/strict";
import { cp, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { openDatabase } from "../../db/client.ts";
import { applyMigrations, migrationsDir } from "../../db/migrations.ts";
import { findCredential } from "../../process/credentials/find-credential.ts";
import { createEmptyDatabase } from "../../testing/test-database.ts";

const CREDENTIALS = "20261123000858_credentials";
const log = { info: () => {}, warn: () => {} };

test("tokens that are older than credentials stay valid, and of two with one hash the older one does", async (t) => {
  const url = await createEmptyDatabase(t);
  const before = await mkdtemp(join(tmpdir(), "migrations-"));
  t.after(() => rm(before, { recursive: true }));
  for (const name of (await readdir(migrationsDir)).filter((one) => one < CREDENTIALS))
    await cp(join(migrationsDir, name), join(before, name), { recursive: true });
  await applyMigrations({ url, dir: before, log });
  await using db = openDatabase(url, { maxConnections: 2, log });
  await db.pool.query(OLD_ROWS);
  await applyMigrations({ url, dir: migrationsDir, log });

  const found = async (hash: string) => {
    const { expiresAtNs, ...bearer } = (await findCredential(db, hash)) ?? { expiresAtNs: null, kind: "none" };
    assert.equal(expiresAtNs, null);
    return bearer;
  };
  const key = { kind: "apiKey", orgId: "org", capabilities: ["devices.list"], projectIds: ["prj"] };
  assert.deepEqual(await found("of-key"), { ...key, tokenId: "key" });
  const device = { kind: "deviceToken", orgId: "org", projectId: "prj", deviceId: "dev", preapproved: false };
  assert.deepEqual(await found("of-device"), { ...device, tokenId: "dt" });
  const site = { kind: "siteToken", tokenId: "st", orgId: "org", siteId: "site", siteType: "edge" };
  assert.deepEqual(await found("of-site"), site);
  assert.deepEqual(await found("of-inbox"), { kind: "inboxToken", tokenId: "snt", orgId: "org", siteId: "site" });
  assert.deepEqual(await found("of-disabled-key"), { kind: "none" });
  assert.deepEqual(await found("of-two"), { ...key, tokenId: "key-before" });
  const { rows } = await db.pool.query(`SELECT count(*)::int AS count FROM "Credential"`);
  assert.equal(rows[0].count, 6);
});

const OLD_ROWS = `
  INSERT INTO "Organization" (id, name, "createdAtNs") VALUES ('org', 'org', 1);
  INSERT INTO "Project" (id, "orgId", name, "createdAtNs") VALUES ('prj', 'org', 'default', 1);
  INSERT INTO "Site" (id, "orgId", name, type, "createdAtNs") VALUES ('site', 'org', 'edge', 'edge', 1);
  INSERT INTO "Device" (id, "orgId", "projectId", name, "createdAtNs", "updatedAtNs")
    VALUES ('dev', 'org', 'prj', 'robot', 1, 1);
  INSERT INTO "ApiKey" (id, "orgId", name, "tokenSha256", capabilities, "projectIds", enabled, "createdAtNs") VALUES
    ('key', 'org', 'a', 'of-key', '{devices.list}', '{prj}', true, 1),
    ('key-off', 'org', 'b', 'of-disabled-key', '{*}', '{}', false, 1),
    ('key-before', 'org', 'c', 'of-two', '{devices.list}', '{prj}', true, 1);
  INSERT INTO "DeviceToken" (id, "orgId", "projectId", "deviceId", "tokenSha256", "createdAtNs") VALUES
    ('dt', 'org', 'prj', 'dev', 'of-device', 1),
    ('dt-after', 'org', 'prj', 'dev', 'of-two', 2);
  INSERT INTO "SiteToken" (id, "orgId", "siteId", "tokenSha256", "createdAtNs") VALUES ('st', 'org', 'site', 'of-site', 1);
  INSERT INTO "InboxToken" (id, "orgId", "siteId", "tokenSha256", "createdAtNs") VALUES ('snt', 'org', 'site', 'of-inbox', 1)`;
