import assert from "node:assert/strict";
import { after, test } from "node:test";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { api } from "@downlink/protocol";
import { slowTest } from "@downlink/recordings/testing";
import { request } from "undici";
import { startCloud } from "../../testing/start-cloud.ts";
import { storeRecordings } from "../../testing/stored-recordings.ts";
import { chooseCoding } from "./content-coding.ts";

const cloud = await startCloud({ after }, { works: false });
await storeRecordings(cloud);

/** Returns the raw bytes of the answer: fetch would decode them. */
async function get(path: string, headers: Record<string, string> = {}, token = cloud.adminKey) {
  const answer = await request(`${cloud.url}${path}`, { headers: { authorization: `Bearer ${token}`, ...headers } });
  return { ...answer, bytes: Buffer.from(await answer.body.arrayBuffer()) };
}

test("the chosen coding is the one of ours that the receiver prefers, or none if it accepts none", () => {
  const chosen: [string | undefined, string | undefined][] = [
    [undefined, undefined],
    ["", undefined],
    ["identity", undefined],
    ["gzip", "gzip"],
    ["gzip, deflate", "gzip"],
    ["gzip, deflate, br, zstd", "br"],
    ["br;q=0.5, gzip;q=0.8", "gzip"],
    ["br;q=0, gzip;q=0", undefined],
    ["*", "br"],
    ["*;q=0.1, br;q=0", "gzip"],
    ["GZIP;Q=1", "gzip"],
    ["gzip;q=nonsense", undefined],
    [";;,,;q", undefined],
  ];
  for (const [header, coding] of chosen) assert.equal(chooseCoding(header), coding, header);
});

test("a list is encoded as the receiver accepts it, with the same content", async () => {
  const plain = await get("/v1/recordings");
  assert.equal(plain.headers["content-encoding"], undefined);
  const zipped = await get("/v1/recordings", { "accept-encoding": "gzip" });
  assert.deepEqual([zipped.headers["content-encoding"], gunzipSync(zipped.bytes)], ["gzip", plain.bytes]);
  const brotli = await get("/v1/recordings", { "accept-encoding": "gzip, br" });
  assert.deepEqual([brotli.headers["content-encoding"], brotliDecompressSync(brotli.bytes)], ["br", plain.bytes]);
  assert.ok(zipped.bytes.length < plain.bytes.length / 4);
  assert.match(String(zipped.headers.vary), /accept-encoding/i);
});

test("a small answer is sent as it is", async () => {
  const small = await get("/v1/recordings?limit=1", { "accept-encoding": "gzip" });
  assert.ok(small.bytes.length < 1024);
  assert.equal(small.headers["content-encoding"], undefined);
});

test("a client that has a list already gets 304 without a body until the list changes; the etag of another caller is another one", async () => {
  const first = await get("/v1/devices");
  const etag = String(first.headers.etag);
  assert.match(etag, /^W\/"[\w-]{22}"$/);
  for (const known of [etag, `"other", ${etag}`, etag.replace("W/", ""), "*"]) {
    const again = await get("/v1/devices", { "if-none-match": known, "accept-encoding": "gzip" });
    assert.deepEqual([again.statusCode, again.bytes.length, again.headers.etag], [304, 0, etag], known);
  }
  assert.equal((await get("/v1/devices", { "if-none-match": `"other"` })).statusCode, 200);
  assert.equal((await get("/v1/devices", { "accept-encoding": "br" })).headers.etag, etag, "the same for each coding");
  const limited = await cloud.addKey(["devices.list"], ["prj_none"]);
  assert.equal((await get("/v1/devices", { "if-none-match": etag }, limited)).statusCode, 200);
  assert.equal((await get("/v1/devices", { "if-none-match": "*" }, "dl_sk_unknown")).statusCode, 401);
  await cloud.admin.call(api.devices.create, { name: "later" });
  const changed = await get("/v1/devices", { "if-none-match": etag });
  assert.deepEqual([changed.statusCode, changed.headers["cache-control"]], [200, "private, no-cache"]);
});

slowTest("a list of megabytes is encoded while it is streamed", async () => {
  const { prisma } = cloud.deps.db;
  const [like] = await prisma.recording.findMany({ take: 1 });
  const metadata = [{ name: "long", metadata: { text: "abc".repeat(1000) } }];
  const rows = Array.from({ length: 1000 }, (_, i) => ({
    ...like!,
    ...{ id: `rec_long_${i}`, key: null, importId: null, blobKey: null, path: "long", metadata },
    ...{ deviceId: null, sessionId: null },
  }));
  await prisma.recording.createMany({ data: rows });
  const plain = await get("/v1/recordings?path=long");
  const zipped = await get("/v1/recordings?path=long", { "accept-encoding": "gzip" });
  assert.ok(plain.bytes.length > 3_000_000 && zipped.bytes.length < 300_000);
  assert.deepEqual(gunzipSync(zipped.bytes), plain.bytes);
  assert.equal(zipped.headers.etag, undefined, "nobody has read all of it when the head is sent");
});
