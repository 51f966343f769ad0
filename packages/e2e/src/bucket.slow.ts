import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { type Ceph, runCeph, whyNoCeph } from "@downlink/cloud/testing/run-ceph";
import { api } from "@downlink/protocol";
import { makeBag, makeMcap } from "@downlink/recordings/testing";
import { assertExportedExactly } from "./processes/compare-export.ts";
import { startControlPlane } from "./processes/control-plane.ts";
import { eventually } from "./processes/eventually.ts";
import { writeLargeFile } from "./processes/large-file.ts";
import { type Scenario, sha256Of, startScenario } from "./processes/scenario.ts";

const START_NS = 1_760_000_000_000_000_000n;
const MIB = 1024 * 1024;

const skip = whyNoCeph();
const running = skip === undefined ? await runCeph() : undefined;
after(() => running?.[Symbol.asyncDispose]());
const ceph = () => running!;

function inBucket({ endpoint, owner }: Ceph, bucket: string): Record<string, string> {
  return {
    DOWNLINK_STORE: "s3",
    DOWNLINK_S3_BUCKET: bucket,
    DOWNLINK_S3_ENDPOINT: endpoint,
    DOWNLINK_S3_PREFIX: "downlink/",
    DOWNLINK_S3_FORCE_PATH_STYLE: "true",
    AWS_ACCESS_KEY_ID: owner.accessKeyId,
    AWS_SECRET_ACCESS_KEY: owner.secretAccessKey,
  };
}

test("with its objects in a bucket, recordings are uploaded, imported and exported exactly", { skip }, async (t) => {
  const bucket = await ceph().makeBucket();
  const scenario = await startScenario(t, { cloudEnv: inBucket(ceph(), bucket) });
  await writeFile(join(scenario.storageRoot, "zstd.mcap"), await makeMcap({ startNs: START_NS, compression: "zstd" }));
  const later = START_NS + 60_000_000_000n;
  await writeFile(join(scenario.storageRoot, "lz4.bag"), await makeBag({ startNs: later, compression: "lz4" }));
  await writeLargeFile(scenario);
  scenario.startAgent();
  const found = await eventually(scenario.recordings, (all) => all.length === 3);
  for (const { id } of found) await scenario.cloud().admin.call(api.recordings.requestImport, { keyOrId: id });
  const imported = await eventually(scenario.recordings, (all) =>
    all.every(({ importStatus }) => importStatus === "complete"),
  );
  for (const recording of imported) await assertExportedExactly(scenario, recording);
  await assertStored(scenario, bucket);
});

test("parts that an agent sends to the bucket itself are imported exactly, and spare the control plane their bytes", {
  skip,
}, async (t) => {
  const bucket = await ceph().makeBucket();
  const cloudEnv = { ...inBucket(ceph(), bucket), DOWNLINK_S3_DIRECT_PARTS: "true" };
  const scenario = await startScenario(t, { cloudEnv });
  await writeLargeFile(scenario);
  scenario.startAgent();
  const recording = await scenario.until("complete", await scenario.requestOnly());
  await assertStored(scenario, bucket);
  assert.ok(scenario.proxy.sentBytes() < 2 * MIB, `${scenario.proxy.sentBytes()} bytes were sent to the control plane`);
  await assertExportedExactly(scenario, recording);
});

test("a control plane that is killed in mid-upload goes on with what the bucket has", { skip }, async (t) => {
  const bucket = await ceph().makeBucket();
  const scenario = await startScenario(t, { cloudEnv: inBucket(ceph(), bucket) });
  const path = await writeLargeFile(scenario);
  scenario.startAgent();
  scenario.proxy.holdAfter(50 * MIB);
  const id = await scenario.requestOnly();
  await scenario.proxy.held();
  await scenario.killCloud();
  scenario.proxy.cut();
  scenario.proxy.holdAfter(Number.POSITIVE_INFINITY);
  await scenario.restartCloud();
  const { size } = await scenario.until("complete", id);
  await assertStored(scenario, bucket);
  const limitBytes = size + 3 * 16 * MIB + 2 * MIB;
  assert.ok(scenario.proxy.sentBytes() <= limitBytes, `${scenario.proxy.sentBytes()} bytes were sent for ${path}`);
});

test("a bucket that cannot be used stops the start and says why", { skip }, async (t) => {
  const dataDir = await mkdtemp(join(tmpdir(), "downlink-bucket-"));
  t.after(() => rm(dataDir, { recursive: true, force: true }));
  const { endpoint, reader } = ceph();
  const env = inBucket({ ...ceph(), endpoint, owner: reader }, await ceph().makeBucket());
  await assert.rejects(startControlPlane({ dataDir, env }), /s3:PutObject/);
});

/** Of each file on the robot the bucket has one object, byte for byte. */
async function assertStored(scenario: Scenario, bucket: string): Promise<void> {
  const objects = await ceph().readObjects(bucket);
  for (const { path } of await scenario.recordings()) {
    const sha256 = await sha256Of(join(scenario.storageRoot, path));
    assert.equal(objects.filter((object) => object.sha256 === sha256).length, 1, path);
  }
  for (const { key } of objects) assert.match(key, /^downlink\/org_/);
}
