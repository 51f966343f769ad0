import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { after, test } from "node:test";
import { api, ErrorBody } from "@downlink/protocol";
import { makeMcap } from "@downlink/recordings/testing";
import { request } from "undici";
import { refusedWith } from "../../testing/refused-with.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { recordingItem, sha256, startAgent } from "../../testing/test-agent.ts";
import { createRunningClock } from "../../testing/test-clock.ts";
import { uploadFile } from "../../testing/upload-file.ts";

const MINUTE_NS = 60_000_000_000n;
const clock = createRunningClock();
const cloud = await startCloud({ after }, { clock });
const { admin, deps } = cloud;
const { prisma } = deps.db;

const bytes = Buffer.from(await makeMcap({ durationSeconds: 2 }));
const filename = 'runs/Straße ✓".mcap';
const uploaded = await uploadFile(cloud, bytes, { filename, key: "drive", deviceName: "robot" });
const recordingId = uploaded.recordingId!;
const linkOf = (keyOrId: string, more = {}) => admin.call(api.recordingFiles.link, { keyOrId, ...more });

async function get(url: string, headers: Record<string, string> = {}, method: "GET" | "HEAD" = "GET") {
  const { statusCode, headers: got, body } = await request(url, { method, headers });
  return { status: statusCode, headers: got, body: Buffer.from(await body.arrayBuffer()) };
}

const askFor = (keyOrId: string, token: string = cloud.adminKey) =>
  get(`${cloud.url}/v1/recordings/${keyOrId}/file`, { authorization: `Bearer ${token}` });

test("a link to a recording's file says its name, size and SHA-256, ends in the name, and lasts an hour", async () => {
  const { link, linkExpiresAt, ...said } = await linkOf("drive");
  assert.deepEqual(said, { fileName: 'Straße ✓".mcap', size: bytes.length, contentSha256: sha256(bytes) });
  assert.ok(new URL(link).pathname.endsWith(`/${recordingId}/Stra_e___.mcap`));
  const answer = await get(link, { "accept-encoding": "gzip" });
  assert.deepEqual([answer.status, answer.headers.etag], [200, `"${sha256(bytes)}"`]);
  assert.ok(bytes.equals(answer.body));
  const lastsNs = linkExpiresAt - clock.nowNs();
  assert.ok(lastsNs > 59n * MINUTE_NS && lastsNs <= 60n * MINUTE_NS, String(lastsNs));
});

test("any range of the file is that of the bytes that were uploaded", async () => {
  const { link } = await linkOf(recordingId);
  for (let time = 0; time < 300; time++) {
    const start = randomInt(bytes.length);
    const end = randomInt(start, bytes.length);
    const { status, headers, body } = await get(link, { range: `bytes=${start}-${end}` });
    assert.deepEqual([status, headers["content-range"]], [206, `bytes ${start}-${end}/${bytes.length}`]);
    assert.ok(bytes.subarray(start, end + 1).equals(body));
  }
  const head = await get(link, {}, "HEAD");
  assert.deepEqual([head.headers["content-length"], head.headers["accept-ranges"]], [String(bytes.length), "bytes"]);
  assert.equal((await get(link, { range: "bytes=0-1", "if-range": '"other"' })).status, 200);
  assert.equal((await get(link, { range: `bytes=${bytes.length}-` })).status, 416);
});

test("a program that sends its key is led to a link of 15 minutes, which is in the audit log once", async () => {
  const entries = async () => (await admin.call(api.audit.list, { operation: "recordingFiles.download" })).length;
  const answers = [await askFor("drive"), await askFor(recordingId)];
  assert.equal(await entries(), 1);
  for (const { status, headers } of answers) {
    assert.deepEqual([status, headers["cache-control"]], [302, "no-store"]);
    assert.ok(bytes.equals((await get(String(headers.location))).body));
  }
  clock.aheadNs += 16n * MINUTE_NS;
  assert.equal((await get(String(answers[0]!.headers.location))).status, 403);
  await askFor("drive");
  assert.equal(await entries(), 2);
});

test("a file that is called by dots has a link that leads to it", async () => {
  for (const path of ["runs/..", "."]) {
    await prisma.recording.update({ where: { id: recordingId }, data: { path } });
    assert.ok(bytes.equals((await get((await linkOf(recordingId)).link)).body), path);
  }
  await prisma.recording.update({ where: { id: recordingId }, data: { path: filename } });
});

test("a link ends with the API key that made it", async () => {
  const { id, token } = await admin.call(api.apiKeys.create, { name: "reader", capabilities: ["data.stream"] });
  const { link } = await cloud.withToken(token!).call(api.recordingFiles.link, { keyOrId: "drive" });
  assert.equal((await get(link)).status, 200);
  await admin.call(api.apiKeys.delete, { id });
  assert.equal((await get(link)).status, 403);
});

test("a file needs data.stream and a recording that the key may see", async () => {
  const { id: elsewhere } = await admin.call(api.projects.create, { name: "elsewhere" });
  const statusOf = async (...key: Parameters<typeof cloud.addKey>) =>
    (await askFor("drive", await cloud.addKey(...key))).status;
  assert.equal(await statusOf(["recordings.list"]), 403);
  assert.equal(await statusOf(["data.stream"]), 302);
  assert.equal(await statusOf(["data.stream"], [elsewhere]), 404);
  await assert.rejects(linkOf("drive", { projectId: elsewhere }), refusedWith("NotFound"));
  const stranger = await cloud.otherOrganization();
  await assert.rejects(stranger.call(api.recordingFiles.link, { keyOrId: recordingId }), refusedWith("NotFound"));
});

test("a file that is on its device only, damaged, or deleted is refused with the reason", async () => {
  const whyNot = async (keyOrId: string) => {
    const { status, body } = await askFor(keyOrId);
    const { code, error } = ErrorBody.parse(JSON.parse(body.toString()));
    assert.equal(status, 404);
    return `${code}: ${error}`;
  };
  const { projectId } = await prisma.recording.findUniqueOrThrow({ where: { id: recordingId } });
  const agent = await startAgent(cloud, "edge-only", projectId);
  await agent.report([recordingItem({ key: "at-edge" })]);
  assert.match(await whyNot("at-edge"), /^NoStreamableRecordings: .*on the device only.*imports one/);
  await prisma.recording.update({ where: { id: recordingId }, data: { storedDamage: "altered" } });
  assert.match(await whyNot("drive"), /^NoStreamableRecordings: .*damaged in the object store/);
  await prisma.recording.update({ where: { id: recordingId }, data: { storedDamage: null } });
  await admin.call(api.recordings.delete, { keyOrId: "drive" });
  assert.match(await whyNot("drive"), /^NotFound: /);
});
