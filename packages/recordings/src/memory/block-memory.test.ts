import assert from "node:assert/strict";
import { test } from "node:test";
import { createBlockMemory } from "./block-memory.ts";

const MIB = 1024 * 1024;

test("memory is used again for blocks of the same size, and at most as many as are kept", () => {
  const memory = createBlockMemory({ mostBlocks: 2 });
  const blocks = [1, 2, 3].map(() => memory.take(MIB));
  for (const block of blocks) memory.giveBack(block);
  assert.equal(blocks[0]!.byteLength, 0);
  assert.notEqual(memory.take(2 * MIB), blocks[1]);
  assert.deepEqual([memory.take(MIB), memory.take(MIB)].map((taken) => blocks.indexOf(taken)).sort(), [1, 2]);
  assert.equal(blocks.indexOf(memory.take(MIB)), -1);
});

test("memory that nobody takes for a while is freed, and that of small blocks is not kept", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const memory = createBlockMemory();
  const [block, small] = [memory.take(MIB), memory.take(MIB / 2)];
  memory.giveBack(block);
  memory.giveBack(small);
  assert.equal(small.byteLength, 0);
  t.mock.timers.tick(9_000);
  assert.equal(block.byteLength, MIB);
  t.mock.timers.tick(2_000);
  assert.equal(block.byteLength, 0);
  assert.notEqual(memory.take(MIB), block);
});
