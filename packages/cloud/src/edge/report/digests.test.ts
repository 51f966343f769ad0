import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { after, test } from "node:test";
import { api, type DigestAlgorithm } from "@downlink/protocol";
import { startCloud } from "../../testing/start-cloud.ts";
import { type AskedFor, askForFile, recordingItem, sha256 } from "../../testing/test-agent.ts";

const cloud = await startCloud({ after }, { works: false });
const PART_BYTES = 5 * 1024 * 1024;
const bytes = randomBytes(PART_BYTES + 4321);

/** Opens an upload as an agent does that knows these digests; without any, as an agent does that knows only MD5. */
function opener({ agent, version }: AskedFor) {
  return (digests?: DigestAlgorithm[]) =>
    agent.call(api.edge.openUpload, { ...version, partSize: PART_BYTES, ...(digests && { digests }) });
}

async function askForBytes(deviceName: string) {
  const asked = await askForFile(cloud, deviceName, recordingItem({ size: bytes.length }));
  return { ...asked, open: opener(asked) };
}

test("an agent that knows SHA-256 is asked to use it: its parts are checked and listed by it, and become the file", async () => {
  const { agent, requestId, open } = await askForBytes("modern");
  const first = await open(["md5", "sha256"]);
  assert.equal(first.digest, "sha256");
  await agent.sendParts({ requestId, ...first }, bytes.subarray(0, PART_BYTES));
  const second = await open(["sha256", "md5"]);
  const ofFirst = createHash("sha256").update(bytes.subarray(0, PART_BYTES)).digest("base64");
  assert.deepEqual(
    [second.uploadId, second.digest, second.parts],
    [first.uploadId, "sha256", [{ number: 1, length: PART_BYTES, sha256: ofFirst }]],
  );
  await agent.sendParts({ requestId, ...second }, bytes);
  const shown = { requestId, uploadId: first.uploadId, parts: [], sha256: sha256(bytes) };
  assert.ok((await agent.call(api.edge.completeUpload, shown)).recordingId);
});

test("bytes that do not have their SHA-256 are refused, and do not count", async () => {
  const { agent, requestId, open } = await askForBytes("flipped");
  const { uploadId } = await open(["sha256"]);
  const last = new Uint8Array(bytes.subarray(PART_BYTES));
  const part = { number: 2, length: last.length, sha256: createHash("sha256").update("other").digest("base64") };
  const { grants } = await agent.call(api.edge.grantParts, { requestId, uploadId, parts: [part] });
  const answer = await fetch(grants[0]!.url, { method: "PUT", body: last });
  assert.deepEqual([answer.status, ((await answer.json()) as { code: string }).code], [400, "DigestMismatch"]);
  assert.deepEqual((await open(["sha256"])).parts, []);
});

test("the stored parts decide: an upload that an older agent began by MD5 is continued by MD5", async () => {
  const { agent, requestId, open } = await askForBytes("upgraded");
  const first = await open();
  assert.equal(first.digest, "md5");
  await agent.sendParts({ requestId, ...first }, bytes.subarray(0, PART_BYTES));
  const second = await open(["sha256", "md5"]);
  assert.deepEqual([second.uploadId, second.digest, second.parts.length], [first.uploadId, "md5", 1]);
});

test("an older agent that replaces a newer one cannot compare the stored parts: its upload starts over", async () => {
  const { agent, requestId, open } = await askForBytes("downgraded");
  const first = await open(["sha256", "md5"]);
  await agent.sendParts({ requestId, ...first }, bytes.subarray(0, PART_BYTES));
  const second = await open();
  assert.notEqual(second.uploadId, first.uploadId);
  assert.deepEqual([second.digest, second.parts], ["md5", []]);
  await agent.sendParts({ requestId, ...second }, bytes);
  const shown = { requestId, uploadId: second.uploadId, parts: [], sha256: sha256(bytes) };
  assert.ok((await agent.call(api.edge.completeUpload, shown)).recordingId);
});

test("a part is announced by one digest: by none or by both it is refused", async () => {
  const { agent, requestId, open } = await askForBytes("undecided");
  const { uploadId } = await open(["sha256"]);
  const [md5, hash] = (["md5", "sha256"] as const).map((name) => createHash(name).update(bytes).digest("base64"));
  for (const shown of [{}, { md5, sha256: hash }]) {
    const answer = await fetch(`${cloud.url}/v1/edge/imports/${requestId}/upload/${uploadId}/grants`, {
      method: "POST",
      headers: { authorization: `Bearer ${agent.token}`, "content-type": "application/json" },
      body: JSON.stringify({ parts: [{ number: 1, length: PART_BYTES, ...shown }] }),
    });
    assert.deepEqual([answer.status, ((await answer.json()) as { code: string }).code], [400, "InvalidRequest"]);
  }
});
