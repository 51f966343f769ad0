import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, test } from "node:test";
import { api, ErrorBody } from "@downlink/protocol";
import { makeMcap, slowTest } from "@downlink/recordings/testing";
import { request } from "undici";
import { startCloud } from "../../testing/start-cloud.ts";
import { createRunningClock } from "../../testing/test-clock.ts";
import { putFile, uploadFile } from "../../testing/upload-file.ts";

const MINUTE_NS = 60_000_000_000n;
const clock = createRunningClock();
const cloud = await startCloud({ after }, { clock });
const { admin, deps } = cloud;
const { prisma } = deps.db;

const rubbish = randomBytes(600_000);
const filename = 'runs/Straße ✓".html';
const failed = await uploadFile(cloud, rubbish, { filename, deviceName: "robot" });
assert.equal(failed.status, "error");

async function askFor(requestId: string, token: string | undefined = cloud.adminKey) {
  const headers = token === "" ? {} : { authorization: `Bearer ${token}` };
  const url = `${cloud.url}/v1/data/pending-imports/${requestId}/file`;
  const { statusCode, headers: got, body } = await request(url, { headers });
  return { status: statusCode, location: String(got.location), headers: got, text: await body.text() };
}

async function get(link: string, headers: Record<string, string> = {}, method: "GET" | "HEAD" | "PUT" = "GET") {
  const { statusCode, headers: got, body } = await request(link, { method, headers });
  return { status: statusCode, headers: got, body: Buffer.from(await body.arrayBuffer()) };
}

async function whyNot(requestId: string): Promise<string> {
  const { status, text } = await askFor(requestId);
  const { error, code } = ErrorBody.parse(JSON.parse(text));
  assert.deepEqual([status, code], [404, "NotFound"]);
  return error;
}

test("the stored bytes of a failed file are a 302 away, as a file to be saved, whatever its name", async () => {
  const { status, location, headers } = await askFor(failed.requestId);
  assert.deepEqual([status, headers["cache-control"]], [302, "no-store"]);
  assert.ok(location.startsWith(cloud.url));
  const answer = await get(location, { "accept-encoding": "gzip, br", authorization: "Bearer of somebody else" });
  assert.equal(answer.status, 200);
  assert.ok(rubbish.equals(answer.body));
  const { "content-disposition": disposition, ...shown } = answer.headers;
  assert.match(String(disposition), /^attachment; filename="Stra_e __\.html"; filename\*=UTF-8''Stra%C3%9Fe%20/);
  assert.deepEqual(
    [
      shown["content-type"],
      shown["content-encoding"],
      shown["content-security-policy"],
      shown["x-content-type-options"],
    ],
    ["application/octet-stream", undefined, "sandbox", "nosniff"],
  );
});

test("a link serves ranges and HEAD, and answers 304 for what the receiver has already", async () => {
  const { location } = await askFor(failed.requestId);
  const head = await get(location, {}, "HEAD");
  assert.deepEqual([head.status, head.headers["content-length"], head.body.length], [200, "600000", 0]);
  const etag = String(head.headers.etag);
  assert.match(etag, /^"[^"]+"$/);
  const range = await get(location, { range: "bytes=599990-", "if-range": etag });
  assert.deepEqual([range.status, range.headers["content-range"]], [206, "bytes 599990-599999/600000"]);
  assert.ok(rubbish.subarray(-10).equals(range.body));
  assert.equal((await get(location, { range: "bytes=0-1", "if-range": '"other"' })).status, 200);
  assert.equal((await get(location, { "if-none-match": etag })).status, 304);
  assert.equal((await get(location, { range: "bytes=600000-" })).status, 416);
});

test("a link is valid for 15 minutes, for GET, and for the one file that it names", async () => {
  const another = await uploadFile(cloud, randomBytes(10), { filename: "b.mcap", deviceName: "robot" });
  const { location } = await askFor(failed.requestId);
  assert.equal((await get(location.replace(failed.requestId, another.requestId))).status, 403);
  assert.equal((await get(location.split("?")[0]!)).status, 400);
  assert.equal((await get(location, {}, "PUT")).status, 405);
  clock.aheadNs = 14n * MINUTE_NS;
  assert.equal((await get(location, {}, "HEAD")).status, 200);
  clock.aheadNs = 15n * MINUTE_NS + 1n;
  assert.equal((await get(location)).status, 403);
});

slowTest(
  "links exist in every state in which the bytes are stored; a complete request has them as long as its recording",
  async () => {
    const bytes = await makeMcap({ durationSeconds: 1 });
    const { requestId, link } = await admin.call(api.uploads.create, { filename: "c.mcap", deviceName: "robot" });
    assert.match(await whyNot(requestId), /has not come yet/);
    await putFile(link, Buffer.from("PK"));
    const { state } = await prisma.importRequest.findUniqueOrThrow({ where: { id: requestId } });
    assert.notEqual(state, "awaiting");
    assert.equal((await get((await askFor(requestId)).location)).body.toString(), "PK");
    for (const working of ["received", "processing", "ready for indexing"] as const) {
      await prisma.importRequest.update({ where: { id: failed.requestId }, data: { state: working } });
      assert.equal((await askFor(failed.requestId)).status, 302, working);
    }
    await prisma.importRequest.update({ where: { id: failed.requestId }, data: { state: "error" } });

    const done = await uploadFile(cloud, bytes, { filename: "d.mcap", deviceName: "robot", key: "done" });
    const repeat = await uploadFile(cloud, bytes, { filename: "d.mcap", deviceName: "robot", key: "done" });
    assert.ok(repeat.existing);
    for (const one of [done, repeat])
      assert.ok(Buffer.from(bytes).equals((await get((await askFor(one.requestId)).location)).body));
    await admin.call(api.recordings.delete, { keyOrId: "done" });
    for (const one of [done, repeat]) assert.match(await whyNot(one.requestId), /was deleted, or is another import's/);
  },
);

test("a link ends with its object", async () => {
  const gone = await uploadFile(cloud, randomBytes(10), { filename: "g.mcap", deviceName: "robot" });
  const { location } = await askFor(gone.requestId);
  const { blobKey } = await prisma.importRequest.findUniqueOrThrow({ where: { id: gone.requestId } });
  await deps.blobs.delete(blobKey!);
  assert.equal((await get(location)).status, 404);
  assert.match(await whyNot(gone.requestId), /no longer stored/);
  await prisma.importRequest.update({ where: { id: gone.requestId }, data: { state: "cancelled", blobKey: null } });
  assert.match(await whyNot(gone.requestId), /is not stored: the import is "cancelled"/);
});

test("a link needs data.stream and a request that the key may see", async () => {
  const { requestId, projectId } = failed;
  const { id: elsewhere } = await admin.call(api.projects.create, { name: "elsewhere" });
  const statusOf = async (...key: Parameters<typeof cloud.addKey>) =>
    (await askFor(requestId, await cloud.addKey(...key))).status;
  assert.equal((await askFor(requestId, "")).status, 401);
  assert.equal((await askFor(requestId, "dl_sk_unknown")).status, 401);
  assert.equal(await statusOf(["data.upload", "recordings.list"]), 403);
  assert.equal(await statusOf(["data.stream"], [projectId!]), 302);
  assert.equal(await statusOf(["data.stream"], [elsewhere]), 404);
  const other = await cloud.otherOrganization();
  const { token } = await other.call(api.apiKeys.create, { name: "theirs", capabilities: ["data.stream"] });
  const unseen = await askFor(requestId, token);
  assert.deepEqual([unseen.status, ErrorBody.parse(JSON.parse(unseen.text)).code], [404, "NotFound"]);
  assert.match(await whyNot("req_unknown"), /import request req_unknown not found/);
});
