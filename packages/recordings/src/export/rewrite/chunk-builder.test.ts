import assert from "node:assert/strict";
import { test } from "node:test";
import { ChunkBuilder } from "./chunk-builder.ts";
import { messageHead } from "./fragment.ts";

test("an uncompressed chunk whose indexes need more room than was expected is sealed whole", () => {
  const builder = new ChunkBuilder("");
  const head = messageHead({ sequence: 0, logTimeNs: 7n, publishTimeNs: 7n, dataBytes: 0 });
  for (let channelId = 0; channelId < 10_000; channelId += 1) {
    builder.mark(0);
    builder.copy(head, 0, head.byteLength);
    builder.setChannel(channelId, channelId);
  }
  const { bytes, storedBytes, uncompressedBytes, channels } = builder.seal();
  assert.deepEqual([storedBytes, uncompressedBytes], [10_000 * head.byteLength, 10_000 * head.byteLength]);
  assert.equal(Buffer.from(bytes).readBigUInt64LE(41), BigInt(storedBytes));
  assert.equal(channels.length, 10_000);
});
