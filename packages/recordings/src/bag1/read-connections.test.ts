import assert from "node:assert/strict";
import { test } from "node:test";
import { createReadContext } from "../reading/read-context.ts";
import { bytesSource } from "../sources/source.ts";
import { makeBag } from "../testing/make-bag.ts";
import { refusedWith } from "../testing/refused-with.ts";
import { readConnections } from "./read-connections.ts";

test("connections are read byte for byte from the index, by channel id", async () => {
  const bytes = await makeBag({ isReversed: true });
  const connections = await readConnections(createReadContext(bytesSource(bytes)));
  assert.deepEqual(
    [...connections].map(([id, { topic }]) => [id, Buffer.from(topic).toString()]),
    [
      [1, "/imu"],
      [2, "/status"],
    ],
  );
  for (const { header } of connections.values()) {
    assert.ok(Buffer.from(bytes).includes(Buffer.from(header)));
    assert.match(Buffer.from(header).toString("latin1"), /^.\0\0\0topic=.*callerid=\/recorder$/s);
  }
});

test("a bag without an index and connections beyond the limit are refused", async () => {
  const active = createReadContext(bytesSource(await makeBag({ isFinished: false })));
  await assert.rejects(readConnections(active), refusedWith("ActiveBag"));
  const bounded = createReadContext(bytesSource(await makeBag()), { limits: { maxHeldBytes: 500 } });
  await assert.rejects(readConnections(bounded), refusedWith("TooManyRecords"));
});
