import assert from "node:assert/strict";
import { cp } from "node:fs/promises";
import { join } from "node:path";
import { after, test } from "node:test";
import { createTestDatabase } from "@downlink/cloud/testing";
import { runCeph, whyNoCeph } from "@downlink/cloud/testing/run-ceph";
import { startControlPlane } from "../processes/control-plane.ts";
import { assertRestored, type Env, makeFolder, readExports, run, startLoad, succeed, uploadSome } from "./backed-up.ts";

test("with an external database, objects and notes are copied, and a restore asks for that database", async (t) => {
  const folder = await makeFolder(t);
  const [live, place, restored] = [join(folder, "live"), join(folder, "place"), join(folder, "restored")];
  const database = { DATABASE_URL: await createTestDatabase(t) };
  const copied = await (async () => {
    await using cloud = await startControlPlane({ dataDir: live, env: database });
    const bytes = await readExports(cloud, await uploadSome(cloud, 2));
    const output = await succeed(["backup", "--to", place], { DOWNLINK_DATA_DIR: live, ...database });
    assert.match(output, /the database of DATABASE_URL is yours to copy/);
    return bytes;
  })();
  const into = { DOWNLINK_DATA_DIR: restored };
  const without = await run(["restore", "--from", place], into);
  assert.match(without.output, /restore your database first, and set DATABASE_URL to it/);
  await succeed(["restore", "--from", place], { ...into, ...database });
  await cp(join(live, "admin.key"), join(restored, "admin.key"));
  await assertRestored(database, restored, copied);
});

const skip = whyNoCeph();
const ceph = skip === undefined ? await runCeph() : undefined;
after(() => ceph?.[Symbol.asyncDispose]());

test("a deployment with its objects in a bucket is backed up to another one and restored from there", {
  skip,
}, async (t) => {
  const folder = await makeFolder(t);
  const [bucket, target] = [await ceph!.makeBucket(), await ceph!.makeBucket()];
  const inBucket = (prefix: string): Env => ({
    DOWNLINK_STORE: "s3",
    DOWNLINK_S3_BUCKET: bucket,
    DOWNLINK_S3_ENDPOINT: ceph!.endpoint,
    DOWNLINK_S3_PREFIX: prefix,
    DOWNLINK_S3_FORCE_PATH_STYLE: "true",
    AWS_ACCESS_KEY_ID: ceph!.owner.accessKeyId,
    AWS_SECRET_ACCESS_KEY: ceph!.owner.secretAccessKey,
  });
  const [live, restored] = [join(folder, "live"), join(folder, "restored")];
  const place = `s3://${target}/backups`;
  await using cloud = await startControlPlane({ dataDir: live, env: inBucket("live/") });
  const bytes = await readExports(cloud, await uploadSome(cloud, 3));
  const load = startLoad(cloud);
  await succeed(["backup", "--to", place], { DOWNLINK_DATA_DIR: live, ...inBucket("live/") });
  await load.stop();
  const into = { DOWNLINK_DATA_DIR: restored, ...inBucket("restored/") };
  await succeed(["restore", "--from", place], into);
  await assertRestored(inBucket("restored/"), restored, bytes);
  const other = { ...into, DOWNLINK_DATA_DIR: join(folder, "other") };
  const { output } = await run(["restore", "--from", place], other);
  assert.match(output, /the object store holds an object, org_\w+\/\w+: a backup is restored into an empty place only/);
});
