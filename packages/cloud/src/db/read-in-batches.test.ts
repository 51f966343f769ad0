import assert from "node:assert/strict";
import { test } from "node:test";
import { readInBatches } from "./read-in-batches.ts";

const MiB = 1024 * 1024;

/** Returns the lengths of the batches in which items of so many characters arrive. */
async function lengthsOf(itemChars: readonly number[]): Promise<number[]> {
  const batches = readInBatches(itemChars, async (items) => items);
  const lengths: number[] = [];
  const seen: number[] = [];
  for (let sizeChars = 0; ; ) {
    const { value: items, done } = await batches.next(sizeChars);
    if (done) break;
    lengths.push(items.length);
    seen.push(...items);
    sizeChars = items.reduce((sum, chars) => sum + chars, 0);
  }
  assert.deepEqual(seen, itemChars);
  return lengths;
}

test("small items come in few batches", async () => {
  assert.deepEqual(await lengthsOf(Array(2000).fill(700)), [16, 128, 1024, 832]);
  assert.deepEqual(await lengthsOf([]), []);
  assert.deepEqual(await lengthsOf([0]), [1]);
});

test("large items arrive one at a time, and the items after them in larger batches again", async () => {
  const lengths = await lengthsOf([...Array(20).fill(4 * MiB), ...Array(100).fill(10)]);
  assert.deepEqual(lengths.slice(0, 5), [16, 1, 1, 1, 1]);
  assert.ok(lengths.length < 12, `${lengths}`);
});

test("nothing is read before it is requested", async () => {
  const read: number[] = [];
  const batches = readInBatches([1, 2, 3], async (items) => {
    read.push(...items);
    return items;
  });
  assert.deepEqual(read, []);
  await batches.next(0);
  assert.deepEqual(read, [1, 2, 3]);
});
