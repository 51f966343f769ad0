import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { putStream } from "@downlink/client/node";
import { toDigestFields } from "@downlink/protocol";
import { FileSource } from "@downlink/recordings";
import { createPartHashes, partsOf, readRange } from "./upload-parts.ts";

const MiB = 1024 * 1024;

test("parts together are the file, their hashes those of what is read, whatever their sizes", async (t) => {
  const { source, bytes } = await makeFile(t, 3 * MiB + 17);
  await using _source = source;
  for (const [index, partSize] of [MiB, MiB + 1, 300_000, 4 * MiB].entries()) {
    const algorithm = index % 2 === 0 ? "sha256" : "md5";
    const hashes = createPartHashes(0n, algorithm);
    for (const part of partsOf(bytes.length, partSize)) {
      const of = bytes.subarray(part.offset, part.offset + part.length);
      const base64 = createHash(algorithm).update(of).digest("base64");
      assert.deepEqual(toDigestFields(await hashes.digestOf(source, part)), { [algorithm]: base64 });
      assert.deepEqual(await collect(readRange(source, part)), of);
    }
    assert.equal(hashes.sha256(), createHash("sha256").update(bytes).digest("hex"));
  }
});

test("the memory of a block is reused only when the sender is done with it, however slow it is", async (t) => {
  const { source, bytes } = await makeFile(t, 12 * MiB + 5);
  await using _source = source;
  for (const pieceBytes of [3_001, 100_000, MiB]) {
    await using far = await slowReader();
    const body = cut(readRange(source, { offset: 0, length: bytes.length }), pieceBytes);
    await putStream(far.url, { body, length: bytes.length });
    assert.equal(far.md5(), createHash("md5").update(bytes).digest("hex"), `in pieces of ${pieceBytes}`);
  }
});

async function makeFile(t: TestContext, length: number): Promise<{ source: FileSource; bytes: Buffer }> {
  const folder = mkdtempSync(join(tmpdir(), "downlink-parts-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const bytes = randomBytes(length);
  writeFileSync(join(folder, "file"), bytes);
  return { source: await FileSource.open(join(folder, "file")), bytes };
}

async function collect(blocks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const copies: Buffer[] = [];
  for await (const block of blocks) copies.push(Buffer.from(block));
  return Buffer.concat(copies);
}

async function* cut(blocks: AsyncIterable<Uint8Array>, pieceBytes: number): AsyncGenerator<Uint8Array> {
  for await (const block of blocks) {
    for (let at = 0; at < block.length; at += pieceBytes) yield block.subarray(at, at + pieceBytes);
  }
}

/** Reads a little, and the next little only after a while, so that all buffers on the way are full. */
async function slowReader() {
  const md5 = createHash("md5");
  const server = createServer(async (request, response) => {
    for await (const piece of request) {
      md5.update(piece);
      await delay(1);
    }
    response.end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    md5: () => md5.copy().digest("hex"),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}
