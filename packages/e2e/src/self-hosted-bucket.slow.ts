import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { after, test } from "node:test";
import { promisify } from "node:util";
import { runCeph, whyNoCeph } from "@downlink/cloud/testing/run-ceph";
import { api } from "@downlink/protocol";
import { eventually, makeMcap } from "@downlink/recordings/testing";
import { inBucket } from "./processes/in-bucket.ts";
import { refuseSite } from "./processes/refuse-site.ts";
import { describeSiteIn, startSiteIn } from "./scenarios/site-in-store.ts";

const skip = whyNoCeph();
const running = skip === undefined ? await startPlant() : undefined;
const plant = () => running!;

async function startPlant() {
  const ceph = await runCeph();
  after(() => ceph[Symbol.asyncDispose]());
  const bucket = await ceph.makeBucket();
  const readNames = async () => (await ceph.readObjects(bucket)).map(({ key }) => key);
  const scene = await startSiteIn({ env: inBucket(ceph, bucket), readNames });
  return { ...scene, ceph };
}

describeSiteIn({ noun: "bucket", kind: "s3", skip }, plant);

test("a bucket that is not there, and parts past the site, are refused plainly", { skip }, async () => {
  const { scenario, token, env } = plant();
  const dataDir = `${plant().dataDir}-refused`;
  const refused = (more: Readonly<Record<string, string>>) =>
    refuseSite({ controlPlane: scenario.proxy.url, token, dataDir, env: { ...env, ...more } });
  assert.match(await refused({ DOWNLINK_S3_BUCKET: "nowhere" }), /DOWNLINK_S3_BUCKET: nowhere: /);
  assert.match(await refused({ DOWNLINK_S3_DIRECT_PARTS: "true" }), /DOWNLINK_S3_DIRECT_PARTS: .* go through the site/);
});

test("what another program puts into the inbox of a bucket is imported and leaves it, and what is broken goes to its quarantine", {
  skip,
}, async () => {
  const { scenario, token, kill, start, dataDir, ceph, env } = plant();
  const { admin } = scenario.cloud();
  const bucket = await ceph.makeBucket();
  const inbox = { DOWNLINK_S3_INBOX_BUCKET: bucket, DOWNLINK_S3_INBOX_PREFIX: "in/" };
  const where = { controlPlane: scenario.proxy.url, token, dataDir: `${dataDir}-refused` };
  assert.match(await refuseSite({ ...where, env: { ...env, ...inbox } }), /s3:..bucket-\w+.in. .* keeps no versions/);
  await ceph.keepVersions(bucket);
  await kill();
  await start(inbox);
  const metadata = [{ name: "downlink", metadata: { deviceName: "cell-9" } }];
  const bytes = await makeMcap({ startNs: 1_700_000_000_000_000_000n, metadata });
  await putByCurl(`${bucket}/in/lab/run-1.mcap`, bytes);
  await putByCurl(`${bucket}/in/lab/cut.mcap`, bytes.subarray(0, bytes.byteLength / 2));
  const left = await eventually(
    async () => (await ceph.readObjects(bucket)).map(({ key }) => key),
    (names) => names.length === 2 && names.every((name) => name.startsWith("in/_quarantine/")),
  );
  assert.match(left.join(" "), /^in\/_quarantine\/req_\w+\.reason\.txt in\/_quarantine\/req_\w+\/lab\/cut\.mcap$/);
  const [recording] = await admin.call(api.recordings.list, { path: "lab/run-1.mcap" });
  assert.deepEqual([recording?.importStatus, recording?.device?.name], ["complete", "cell-9"]);
});

async function putByCurl(path: string, bytes: Uint8Array): Promise<void> {
  const { ceph, dataDir } = plant();
  const file = `${dataDir}-object`;
  await writeFile(file, bytes);
  const { accessKeyId, secretAccessKey } = ceph.owner;
  const signing = ["--aws-sigv4", "aws:amz:us-east-1:s3", "--user", `${accessKeyId}:${secretAccessKey}`];
  const unsigned = ["-H", "x-amz-content-sha256: UNSIGNED-PAYLOAD"];
  await promisify(execFile)("curl", ["-sSf", ...signing, ...unsigned, "-T", file, `${ceph.endpoint}/${path}`]);
}
