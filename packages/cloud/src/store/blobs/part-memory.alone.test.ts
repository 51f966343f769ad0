import assert from "node:assert/strict";
import { test } from "node:test";
import { createPartMemory } from "./part-memory.ts";

test("no more than the total is lent at once, and memory that was given back is lent again", () => {
  const memory = createPartMemory(100);
  const first = memory.take(60)!;
  assert.equal(first.bytes.byteLength, 60);
  assert.equal(memory.take(41), undefined);
  const second = memory.take(40)!;
  assert.equal(memory.take(1), undefined);
  first[Symbol.dispose]();
  second[Symbol.dispose]();
  assert.equal(memory.take(60)!.bytes, first.bytes);
  assert.equal(memory.take(40)!.bytes, second.bytes);
});

test("no two parts have the same memory at once", () => {
  const memory = createPartMemory(100);
  memory.take(30)![Symbol.dispose]();
  const [one, other] = [memory.take(30)!, memory.take(30)!];
  assert.notEqual(one.bytes, other.bytes);
});

test("kept memory is freed when a part of another length needs the room, and when no part comes any more", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const memory = createPartMemory(100, 1000);
  const lend = (lengthBytes: number) => {
    using lent = memory.take(lengthBytes)!;
    return lent.bytes;
  };
  const first = lend(60);
  const second = lend(50);
  assert.equal(lend(50), second);
  assert.notEqual(lend(60), first, "there was no room for both");
  const last = lend(60);
  t.mock.timers.tick(999);
  assert.equal(lend(60), last);
  t.mock.timers.tick(1000);
  assert.notEqual(lend(60), last);
});
