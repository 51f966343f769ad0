import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { runCeph, whyNoCeph } from "@downlink/cloud/testing/run-ceph";
import { edgeLimits } from "@downlink/protocol";
import { eventually, writeMcapFile } from "@downlink/recordings/testing";
import { assertExportedExactly } from "./processes/compare-export.ts";
import { startControlPlane } from "./processes/control-plane.ts";
import { assertStored, importEachKind } from "./processes/import-each-kind.ts";
import { inBucket } from "./processes/in-bucket.ts";
import { writeLargeFile } from "./processes/large-file.ts";
import { type Scenario, startScenario } from "./processes/scenario.ts";

const MIB = 1024 * 1024;
/** The length of the shortest piece. */
const MOST_BYTES_ABOUT_A_FILE = edgeLimits.minPieceBytes;

const skip = whyNoCeph();
const running = skip === undefined ? await runCeph() : undefined;
after(() => running?.[Symbol.asyncDispose]());
const ceph = () => running!;

test("with its objects in a bucket, recordings are uploaded, imported and exported exactly", { skip }, async (t) => {
  const bucket = await ceph().makeBucket();
  const scenario = await startScenario(t, { cloudEnv: inBucket(ceph(), bucket) });
  await importEachKind(scenario);
  await assertStored(scenario, await ceph().readObjects(bucket));
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
  await assertStored(scenario, await ceph().readObjects(bucket));
  assertSpared(scenario);
  await assertExportedExactly(scenario, recording);
});

test("on a slow link an agent sends pieces to the bucket itself, which become the recording and leave nothing behind", {
  skip,
}, async (t) => {
  const bucket = await ceph().makeBucket();
  const cloudEnv = { ...inBucket(ceph(), bucket), DOWNLINK_S3_DIRECT_PARTS: "true" };
  const scenario = await startScenario(t, { cloudEnv, agentEnv: { DOWNLINK_UPLOAD_RATE: "400kB/s" } });
  const topics = [{ topic: "/blob", kind: "blob" as const, rateHz: 10, sizeBytes: 100_000 }];
  await writeMcapFile(join(scenario.storageRoot, "slow.mcap"), { topics, durationSeconds: 4, compression: "" });
  const pieces = async () => (await ceph().readObjects(bucket)).filter(({ key }) => key.includes("/_pieces/"));
  scenario.startAgent();
  const id = await scenario.requestOnly();
  await eventually(pieces, (found) => found.length > 1);
  const recording = await scenario.until("complete", id);
  assert.deepEqual(await pieces(), []);
  await assertStored(scenario, await ceph().readObjects(bucket));
  assertSpared(scenario);
  await assertExportedExactly(scenario, recording);
});

test("a control plane that is killed in mid-upload continues with the parts that the bucket has", {
  skip,
}, async (t) => {
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
  await assertStored(scenario, await ceph().readObjects(bucket));
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

/** Reports and questions of an agent are short; a single piece of a file among them would exceed the limit. */
function assertSpared({ proxy }: Scenario): void {
  const bytes = proxy.sentBytes();
  assert.ok(bytes < MOST_BYTES_ABOUT_A_FILE, `${bytes} bytes were sent to the control plane`);
}
