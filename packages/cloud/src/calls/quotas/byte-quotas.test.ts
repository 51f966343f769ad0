import assert from "node:assert/strict";
import { PassThrough, Readable } from "node:stream";
import { after, beforeEach, test } from "node:test";
import { api, MAX_EXTENSION_BYTES } from "@downlink/protocol";
import { eventually, slowTest } from "@downlink/recordings/testing";
import { request } from "undici";
import { makeZip } from "../../organization/extensions/testing/make-zip.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { readUsage } from "./require-room.ts";
import { setQuotas } from "./set-quotas.ts";

const cloud = await startCloud({ after }, { works: false });
const { db, blobs } = cloud.deps;
const { id: deviceId, orgId } = await cloud.admin.call(api.devices.create, { name: "robot" });
const limitTo = (maxStoredBytes: bigint | null) =>
  setQuotas(cloud.deps, orgId, { maxStoredBytes, maxRecordings: null });
const storedBytes = async () => (await readUsage(db.prisma, orgId)).storedBytes;
const storedKeys = () => Array.fromAsync(blobs.list(`${orgId}/`), ({ key }) => key);
let filesMade = 0;

beforeEach(() => limitTo(null));

async function newLink(): Promise<{ link: string; requestId: string }> {
  filesMade += 1;
  return cloud.admin.call(api.uploads.create, { deviceId, filename: `${filesMade}.mcap` });
}

interface SendOptions {
  readonly method?: "PUT" | "POST";
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends a body without its length, unless one is given. */
async function send(url: string, body: Readable | Buffer, { method = "PUT", headers = {} }: SendOptions = {}) {
  const always = { "content-type": "application/octet-stream", authorization: `Bearer ${cloud.adminKey}` };
  const response = await request(url, { method, headers: { ...always, ...headers }, body });
  const answered = (await response.body.json()) as { code?: string; error?: string };
  return { status: response.statusCode, ...answered };
}

async function* pieces(count: number, sizeBytes: number): AsyncGenerator<Buffer> {
  for (let n = 0; n < count; n += 1) yield Buffer.alloc(sizeBytes, "x");
}

test("a file of unknown length is refused once it has more bytes than there is room for, and leaves nothing", async () => {
  const { link, requestId } = await newLink();
  const [before, keys] = [await storedBytes(), await storedKeys()];
  await limitTo(before + 250_000n);
  const refused = await send(link, Readable.from(pieces(30, 100_000)));
  assert.deepEqual([refused.status, refused.code], [507, "QuotaReached"]);
  assert.match(
    refused.error!,
    new RegExp(`stores ${before} of ${before + 250_000n} bytes, and of this file \\d+ have come`),
  );
  assert.deepEqual([await storedBytes(), await storedKeys()], [before, keys]);
  assert.equal(await db.prisma.upload.count({ where: { requestId, state: { not: "removed" } } }), 0);
  assert.equal((await send(link, Readable.from(pieces(2, 125_000)))).status, 200);
  assert.equal(await storedBytes(), before + 250_000n);
});

slowTest(
  "the bytes of such a file that have arrived count for others, and a file of known length counts from its beginning",
  async () => {
    const [first, second, third] = [await newLink(), await newLink(), await newLink()];
    const before = await storedBytes();
    await limitTo(before + 1000n);
    const slow = new PassThrough();
    const sent = send(first.link, slow);
    slow.write(Buffer.alloc(600));
    await eventually(storedBytes, (bytes) => bytes === before + 600n);
    assert.equal((await send(second.link, Readable.from(pieces(1, 401)))).code, "QuotaReached");
    assert.equal((await send(second.link, Buffer.alloc(400))).status, 200);
    assert.equal((await send(third.link, Buffer.alloc(1))).code, "QuotaReached");
    slow.end(Buffer.alloc(1)); // an upload that was granted before goes on
    assert.equal((await sent).status, 200);
    assert.equal(await storedBytes(), before + 1001n);
  },
);

test("extension packages count, and one that does not fit leaves nothing, whether its length was declared or not", async () => {
  const publish = (body: Buffer | Readable) => send(`${cloud.url}/v1/extension-upload`, body, { method: "POST" });
  const packageOf = (name: string) => makeZip([{ name: "package.json", content: manifestOf(name) }]);
  const before = await storedBytes();
  const zip = packageOf("one");
  assert.equal((await publish(zip)).status, 200);
  assert.equal(await storedBytes(), before + BigInt(zip.length));
  const keys = await storedKeys();
  const two = packageOf("two");
  const bothBytes = before + BigInt(zip.length + two.length);
  await limitTo(bothBytes - 1n);
  for (const body of [two, Readable.from([two]), Readable.from(pieces(64, MAX_EXTENSION_BYTES / 64))]) {
    const refused = await publish(body);
    assert.deepEqual([refused.status, refused.code], [507, "QuotaReached"]);
  }
  assert.deepEqual(await storedKeys(), keys);
  assert.equal(await db.prisma.extensionVersion.count(), 1);
  await limitTo(bothBytes);
  assert.equal((await publish(Readable.from([two]))).status, 200);
});

test("a package that is sent again with its Idempotency-Key gets its answer even without room for another byte, and stores none", async () => {
  const publish = (body: Buffer) =>
    send(`${cloud.url}/v1/extension-upload`, body, { method: "POST", headers: { "idempotency-key": "once" } });
  const packageOf = (name: string) => makeZip([{ name: "package.json", content: manifestOf(name) }]);
  const zip = packageOf("three");
  const first = await publish(zip);
  assert.equal(first.status, 200);
  const keys = await storedKeys();
  await limitTo(await storedBytes());
  assert.deepEqual(await publish(zip), first);
  assert.equal((await publish(packageOf("four"))).code, "IdempotencyConflict");
  assert.equal((await publish(Buffer.alloc(MAX_EXTENSION_BYTES + 1))).code, "BodyTooLarge");
  assert.deepEqual(await storedKeys(), keys);
});

function manifestOf(name: string): string {
  return JSON.stringify({ name, publisher: "acme", version: "1", displayName: "X" });
}

test("a salvage is refused if there is no room for the file that it is made of", async () => {
  const { link, requestId } = await newLink();
  assert.equal((await send(link, Buffer.alloc(500))).status, 200);
  const failed = { state: "error", errorCode: "NoEnd", pipelineStage: "Failed" } as const;
  await db.prisma.importRequest.update({ where: { id: requestId }, data: failed });
  await limitTo((await storedBytes()) + 499n);
  const salvage = () => cloud.admin.call(api.pendingImports.salvage, { requestId });
  await assert.rejects(salvage, (error: { code: string }) => error.code === "QuotaReached");
  await limitTo((await storedBytes()) + 500n);
  await salvage();
});
