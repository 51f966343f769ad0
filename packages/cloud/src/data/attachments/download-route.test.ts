import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, test } from "node:test";
import { api, ErrorBody } from "@downlink/protocol";
import { makeMcap } from "@downlink/recordings/testing";
import { request } from "undici";
import { startCloud } from "../../testing/start-cloud.ts";
import { sha256 } from "../../testing/test-agent.ts";
import { createRunningClock } from "../../testing/test-clock.ts";
import { uploadFile } from "../../testing/upload-file.ts";

const clock = createRunningClock();
const cloud = await startCloud({ after }, { clock });
const { admin } = cloud;

const files = [
  { name: "maps/Straße ✓.png", mediaType: "image/png", data: randomBytes(600_000) },
  { name: 'evil"\r\nSet-Cookie: x=1.html', mediaType: "text/html", data: Buffer.from("<script>alert(1)</script>") },
  { name: `${"n".repeat(1900)}.yaml`, mediaType: `text/${"t".repeat(1900)}`, data: Buffer.from("gain: 3\n") },
  { name: "", mediaType: "", data: Buffer.alloc(0) },
];
const bytes = await makeMcap({
  attachments: files.map((file, i) => ({ ...file, logTimeNs: 1_767_323_045_000_000_000n + BigInt(i) })),
});
const { error } = await uploadFile(cloud, bytes, { filename: "drive.mcap", key: "drive", deviceName: "robot" });
assert.equal(error, undefined);
const attachments = await admin.call(api.attachments.list, {});
assert.equal(attachments.length, files.length);

const path = (id: string) => `${cloud.url}/v1/recording-attachments/${id}/download`;

async function askFor(id: string, token: string | undefined = cloud.adminKey) {
  const headers = token === "" ? {} : { authorization: `Bearer ${token}` };
  const { statusCode, headers: got, body } = await request(path(id), { headers });
  return { status: statusCode, location: String(got.location), headers: got, text: await body.text() };
}

async function get(link: string, headers: Record<string, string> = {}, method: "GET" | "HEAD" | "PUT" = "GET") {
  const { statusCode, headers: got, body } = await request(link, { method, headers });
  return { status: statusCode, headers: got, body: Buffer.from(await body.arrayBuffer()) };
}

test("a download is a 302 to a link that needs no credential, tolerates one, and delivers the attachment's bytes", async () => {
  for (const [i, { data }] of files.entries()) {
    const { status, location, headers } = await askFor(attachments[i]!.id);
    assert.deepEqual([status, headers["cache-control"]], [302, "no-store"]);
    assert.ok(location.startsWith(cloud.url));
    const answer = await get(location, { "accept-encoding": "gzip, br", authorization: "Bearer of somebody else" });
    assert.equal(answer.status, 200);
    assert.ok(data.equals(answer.body));
    assert.equal(answer.headers["content-length"], String(data.length));
    assert.equal(answer.headers["content-encoding"], undefined);
    assert.equal(answer.headers.etag, `"sha256:${sha256(data)}"`);
  }
});

test("a link serves ranges, and answers 304 for what the receiver has already", async () => {
  const { data } = files[0]!;
  const { location } = await askFor(attachments[0]!.id);
  const etag = `"${attachments[0]!.fingerprint}"`;
  const range = await get(location, { range: "bytes=599990-" });
  assert.deepEqual([range.status, range.headers["content-range"]], [206, "bytes 599990-599999/600000"]);
  assert.ok(data.subarray(-10).equals(range.body));
  assert.equal((await get(location, { range: "bytes=0-1", "if-range": etag })).status, 206);
  assert.equal((await get(location, { range: "bytes=0-1", "if-range": '"other"' })).status, 200);
  assert.equal((await get(location, { "if-none-match": etag })).status, 304);
  const outside = await get(location, { range: "bytes=600000-" });
  assert.deepEqual([outside.status, outside.headers["content-range"]], [416, "bytes */600000"]);
  const head = await get(location, {}, "HEAD");
  assert.deepEqual([head.status, head.headers["content-length"], head.body.length], [200, "600000", 0]);
});

test("whatever its recorder called it, an attachment is sent as a file to be saved: it is no page, adds no header, and its link is never too long", async () => {
  const answers = await Promise.all(attachments.map(async ({ id }) => get((await askFor(id)).location)));
  const [image, page, long, unnamed] = answers.map(({ headers }) => headers);
  const disposition = String(image!["content-disposition"]);
  assert.deepEqual([image!["content-type"], image!["x-content-type-options"]], ["image/png", "nosniff"]);
  assert.match(
    disposition,
    /^attachment; filename="maps_Stra_e _\.png"; filename\*=UTF-8''maps%2FStra%C3%9Fe%20%E2%9C%93\.png$/,
  );
  assert.deepEqual([page!["content-type"], page!["set-cookie"]], ["application/octet-stream", undefined]);
  assert.match(String(page!["content-disposition"]), /^attachment; /);
  assert.equal(long!["content-type"], `text/${"t".repeat(250)}`);
  assert.match(String(long!["content-disposition"]), /filename="n{250}\.yaml"/);
  assert.ok((await askFor(attachments[2]!.id)).location.length < 4000);
  assert.ok(String(unnamed!["content-disposition"]).includes(attachments[3]!.id));
});

test("a link is valid for 15 minutes, for GET, and for the one attachment that it names", async () => {
  const [one, other] = [await askFor(attachments[0]!.id), await askFor(attachments[1]!.id)];
  const swapped = one.location.replace(attachments[0]!.id, attachments[1]!.id);
  assert.notEqual(swapped, one.location);
  assert.equal((await get(swapped)).status, 403);
  assert.equal((await get(one.location.split("?")[0]!)).status, 400);
  assert.equal((await get(other.location, {}, "PUT")).status, 405);
  clock.aheadNs = 15n * 60n * 1_000_000_000n - 60_000_000_000n;
  assert.equal((await get(other.location)).status, 200);
  clock.aheadNs += 61_000_000_000n;
  assert.equal((await get(other.location)).status, 403);
});

test("asking for a link needs a key with recordings.list that may see the attachment", async () => {
  const { id } = attachments[0]!;
  const { id: projectId } = await admin.call(api.projects.create, { name: "second" });
  const tokenOf = async (...key: Parameters<typeof cloud.addKey>) =>
    (await askFor(id, await cloud.addKey(...key))).status;
  assert.equal((await askFor(id, "")).status, 401);
  assert.equal((await askFor(id, "dl_sk_unknown")).status, 401);
  assert.equal(await tokenOf(["devices.list"]), 403);
  assert.equal(await tokenOf(["recordings.list"]), 302);
  assert.equal(await tokenOf(["recordings.list"], [projectId]), 404);
  const unknown = await askFor("att_unknown");
  assert.deepEqual([unknown.status, ErrorBody.parse(JSON.parse(unknown.text)).code], [404, "NotFound"]);
});

test("the audit log has a download once, however many ranges of it are asked for", async () => {
  const { id } = attachments[0]!;
  const list = async () => {
    const { output } = await admin.callWithHeaders(api.audit.list, {
      operation: "attachments.download",
      resourceId: id,
    });
    return output.length;
  };
  clock.aheadNs += 16n * 60_000_000_000n;
  const before = await list();
  for (let part = 0; part < 3; part++)
    await request(path(id), { headers: { authorization: `Bearer ${cloud.adminKey}`, range: `bytes=${part}-` } });
  assert.equal(await list(), before + 1);
  clock.aheadNs += 16n * 60_000_000_000n;
  await askFor(id);
  assert.equal(await list(), before + 2);
});

test("a link outlives neither the recording nor its data", async () => {
  const { location } = await askFor(attachments[0]!.id);
  const { blobKey } = await cloud.deps.db.prisma.recording.findFirstOrThrow({ where: { key: "drive" } });
  await admin.call(api.recordings.delete, { keyOrId: "drive" });
  assert.equal((await askFor(attachments[0]!.id)).status, 404);
  await cloud.deps.blobs.delete(blobKey!);
  assert.equal((await get(location)).status, 404);
});
