import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { readSiteConfig } from "../../config.ts";
import { readSiteToken } from "./read-site-token.ts";

const folder = await mkdtemp(join(tmpdir(), "downlink-token-"));
after(() => rm(folder, { recursive: true }));
const siteTokenFile = join(folder, "token");
await writeFile(siteTokenFile, "dl_st_file\n");

test("the token comes from the environment, a file or a flag", async () => {
  assert.equal(await readSiteToken({ fromEnvironment: "dl_st_environment" }), "dl_st_environment");
  assert.equal(await readSiteToken({ fromEnvironment: undefined, siteTokenFile }), "dl_st_file");
  assert.equal(await readSiteToken({ fromEnvironment: undefined, siteToken: "dl_st_flag" }), "dl_st_flag");
});

test("no token, two of them, a file that is not there and what is no token are refused with the setting's name", async () => {
  await assert.rejects(readSiteToken({ fromEnvironment: undefined }), /DOWNLINK_SITE_TOKEN: give/);
  await assert.rejects(readSiteToken({ fromEnvironment: "dl_st_1", siteTokenFile }), /only once/);
  await assert.rejects(readSiteToken({ fromEnvironment: undefined, siteTokenFile: folder }), /--site-token-file/);
  await assert.rejects(readSiteToken({ fromEnvironment: "two words" }), /is no token/);
});

test("settings that a site has no use for, and parts past it, are refused by name", () => {
  const refused = {
    DATABASE_URL: "postgres://localhost/downlink",
    DOWNLINK_SIGNING_KEY: "x".repeat(32),
  };
  assert.throws(() => readSiteConfig(refused), /DATABASE_URL.*\n.*DOWNLINK_SIGNING_KEY/);
  const bucket = { DOWNLINK_STORE: "s3", DOWNLINK_S3_BUCKET: "robots" };
  assert.equal(readSiteConfig(bucket).bucket?.bucket, "robots");
  const direct = { ...bucket, DOWNLINK_S3_DIRECT_PARTS: "true" };
  assert.throws(() => readSiteConfig(direct), /DOWNLINK_S3_DIRECT_PARTS: .* go through the site$/);
  const around = /DOWNLINK_S3_INBOX_PREFIX: must be beside DOWNLINK_S3_PREFIX/;
  assert.throws(() => readSiteConfig({ ...bucket, DOWNLINK_S3_INBOX_PREFIX: "inbox/" }), around);
  const beside = { ...bucket, DOWNLINK_S3_PREFIX: "downlink/", DOWNLINK_S3_INBOX_PREFIX: "inbox/" };
  assert.equal(readSiteConfig(beside).inboxBucket?.prefix, "inbox/");
  const { inboxBucket } = readSiteConfig({ ...bucket, DOWNLINK_S3_INBOX_BUCKET: "incoming" });
  assert.deepEqual([inboxBucket?.bucket, inboxBucket?.prefix], ["incoming", ""]);
  const elsewhere = { DOWNLINK_S3_INBOX_BUCKET: "incoming" };
  assert.throws(() => readSiteConfig(elsewhere), /DOWNLINK_S3_INBOX_BUCKET: is for DOWNLINK_STORE=s3 only/);
  assert.throws(() => readSiteConfig({ ...beside, DOWNLINK_INBOX_DIR: "/srv/inbox" }), /a site has one inbox/);
  const { siteToken, dataDir } = readSiteConfig({ DOWNLINK_SITE_TOKEN: "dl_st_1", DOWNLINK_DATA_DIR: "/srv/site" });
  assert.deepEqual([siteToken, dataDir], ["dl_st_1", "/srv/site"]);
});
