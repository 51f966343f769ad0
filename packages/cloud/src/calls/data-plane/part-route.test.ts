import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readdir, stat } from "node:fs/promises";
import { connect } from "node:net";
import { Readable } from "node:stream";
import { after, test } from "node:test";
import { base64Of } from "@downlink/protocol";
import { request } from "undici";
import { createLinkSigner, signLink } from "../../core/signed-link.ts";
import { filesOf } from "../../store/blobs/file-layout.ts";
import { type ServedFileStore, serveFileStore } from "../../store/blobs/testing/open-file-store.ts";
import { cutParts, inPieces, newKey } from "../../store/blobs/testing/pieces.ts";
import { createStoppedClock } from "../../testing/test-clock.ts";

const PART_BYTES = 300_000;

const startMs = Date.now();
const clock = createStoppedClock(BigInt(startMs) * 1_000_000n);
const served = await serveFileStore({ clock, grantTtlMs: 60_000 });
after(() => served[Symbol.asyncDispose]());

test("the part route acknowledges a part with its number and its digest as the tag, with a length or chunked, and ignores a foreign Authorization", async () => {
  const { key, parts, url } = await openUpload(served);
  const headers = { authorization: "Bearer of somebody else" };
  const answer = await request(url, { method: "PUT", body: parts[0]!.bytes, headers });
  assert.equal(answer.statusCode, 200);
  assert.deepEqual(await answer.body.json(), { number: 1 });
  assert.equal(answer.headers.etag, `"${Buffer.from(base64Of(parts[0]!.plan.digest), "base64").toString("hex")}"`);
  const again = await request(url, { method: "PUT", body: Readable.from(inPieces(parts[0]!.bytes, 7000)) });
  assert.equal(again.statusCode, 200);
  assert.deepEqual(
    (await served.store.listParts(key)).map(({ number }) => number),
    [1],
  );
});

test("the part route refuses a link that is expired, forged, or of another target, method or shape", async () => {
  const { parts, url } = await openUpload(served);
  const send = async (to: string, method: "PUT" | "POST" = "PUT") => codeOf(to, { method, body: parts[0]!.bytes });
  assert.equal(await send(url.replace(/\/1\?/, "/2?")), "403 LinkRefused");
  assert.equal(await send(url.replace(/s=..../, "s=AAAA")), "403 LinkRefused");
  assert.equal(await send(url.replace(/\?.*/, "")), "400 InvalidLink");
  assert.equal(await send(url, "POST"), "404 ");
  const forger = createLinkSigner(["f".repeat(32)]);
  const { origin, pathname: path } = new URL(url);
  const claims = { sha256: base64Of(parts[0]!.plan.digest), length: String(PART_BYTES) };
  const forged = signLink(forger, { method: "PUT", path, claims, expiresAtMs: startMs + 1000 });
  assert.equal(await send(`${origin}${path}?${forged}`), "403 LinkRefused");
  clock.atNs += 60_000_000_000n;
  assert.equal(await send(url), "403 LinkExpired");
  clock.atNs -= 60_000_000_000n;
});

test("the part route refuses bytes other than the announced ones, and a closed upload", async () => {
  const { key, url } = await openUpload(served);
  const other = randomBytes(PART_BYTES);
  assert.equal(await codeOf(url, { method: "PUT", body: other }), "400 DigestMismatch");
  assert.equal(await codeOf(url, { method: "PUT", body: other.subarray(1) }), "400 DigestMismatch");
  assert.equal(
    await codeOf(url, { method: "PUT", body: Readable.from(inPieces(other.subarray(1))) }),
    "400 DigestMismatch",
  );
  assert.deepEqual(await served.store.listParts(key), []);
  await served.store.abortUpload(key);
  assert.equal(await codeOf(url, { method: "PUT", body: other }), "409 UploadClosed");
});

test("the part route stops at the first byte beyond the announced length, however much a sender goes on to send", async () => {
  const { key, url } = await openUpload(served);
  let sentBytes = 0;
  async function* endless() {
    for (const piece = Buffer.alloc(65_536); sentBytes < 1e9; sentBytes += piece.byteLength) yield piece;
  }
  const code = await codeOf(url, { method: "PUT", body: Readable.from(endless()) }).catch(
    (error: NodeJS.ErrnoException) => error.code,
  );
  assert.match(String(code), /^400 DigestMismatch$|^UND_ERR_SOCKET$|^ECONNRESET$|^EPIPE$/);
  assert(sentBytes < 500e6, `${sentBytes} bytes were taken`);
  assert.deepEqual(await served.store.listParts(key), []);
});

test("a body of the wrong length is refused while its sender still sends: by its Content-Length before it comes, or at the first byte too many", async () => {
  await using served = await serveFileStore();
  const { url } = await openUpload(served);
  const tooLong = Buffer.alloc(PART_BYTES + 1);
  const chunk = Buffer.concat([Buffer.from(`${tooLong.byteLength.toString(16)}\r\n`), tooLong]);
  for (const { header, sent } of [
    { header: `Content-Length: ${PART_BYTES + 1}`, sent: Buffer.alloc(0) },
    { header: "Transfer-Encoding: chunked", sent: chunk },
  ]) {
    const socket = await beginPut(url, header, sent);
    const [answer] = (await once(socket, "data")) as [Buffer];
    assert.match(answer.toString(), /^HTTP\/1\.1 400 /);
    socket.destroy();
  }
});

for (const partMemoryBytes of [PART_BYTES, 0])
  test(`a part that breaks off leaves nothing behind (memory for parts: ${partMemoryBytes} bytes)`, async () => {
    const begun = Promise.withResolvers<{ receiving: Promise<void> }>();
    await using served = await serveFileStore({ partMemoryBytes }, (receiving) => begun.resolve({ receiving }));
    const { key, parts, url } = await openUpload(served);
    const socket = await beginPut(url, `Content-Length: ${PART_BYTES}`, parts[0]!.bytes.subarray(0, PART_BYTES / 3));
    const received = assert.rejects((await begun.promise).receiving);
    socket.resetAndDestroy();
    await received;
    const files = filesOf(served.directory, key);
    const names = (await readdir(files.directory)).filter((name) => name.startsWith(files.name));
    assert.deepEqual(names.sort(), [`${files.name}.journal`, `${files.name}.partial`]);
    assert.equal((await stat(files.partial)).size, 0);
    assert.deepEqual(await served.store.listParts(key), []);
    assert.equal((await request(url, { method: "PUT", body: parts[0]!.bytes })).statusCode, 200);
  });

async function openUpload({ store }: Pick<ServedFileStore, "store">) {
  const key = newKey();
  const parts = cutParts(randomBytes(2 * PART_BYTES), PART_BYTES);
  await store.createUpload(key, { sizeBytes: 2 * PART_BYTES, partSizeBytes: PART_BYTES });
  const [grant] = await store.grantParts(key, [parts[0]!.plan]);
  return { key, parts, url: grant!.url };
}

async function codeOf(url: string, options: { method: "PUT" | "POST"; body: Buffer | Readable }) {
  const { statusCode, body } = await request(url, options);
  const text = await body.text();
  return `${statusCode} ${text.startsWith("{") ? (JSON.parse(text) as { code: string }).code : ""}`;
}

/** Sends the beginning of a request, and keeps the connection open. */
async function beginPut(url: string, header: string, sent: Buffer) {
  const { hostname, port, pathname, search } = new URL(url);
  const socket = connect(Number(port), hostname);
  await once(socket, "connect");
  socket.write(`PUT ${pathname}${search} HTTP/1.1\r\nHost: x\r\n${header}\r\n\r\n`);
  socket.write(sent);
  return socket;
}
