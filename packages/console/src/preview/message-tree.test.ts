import assert from "node:assert/strict";
import { test } from "node:test";
import { toTree } from "./message-tree.ts";

test("arrays are cut at a hundred, texts at ten thousand characters, bytes at the first few", () => {
  const { children } = toTree({
    list: new Array(250).fill(1),
    text: "x".repeat(20_000),
    bytes: new Uint8Array(1_000_000),
  });
  const [list, text, bytes] = children!;
  assert.deepEqual([list!.children!.length, list!.leftOut, list!.text], [100, 150, "250 elements"]);
  assert.equal(text!.text, `${"x".repeat(10_000)}… (20000 characters)`);
  assert.equal(bytes!.text, `1000000 bytes: ${new Array(32).fill("00").join(" ")} …`);
});

test("a message with a hundred thousand fields, as wide or as deep as it may be, becomes a tree of a few thousand", () => {
  const wide = Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`f${index}`, [1, 2, 3]]));
  const manyArrays = Array.from({ length: 100 }, () => Array.from({ length: 100 }, () => new Array(100).fill(0)));
  for (const message of [wide, manyArrays]) assert.ok(count(toTree(message)) <= 5100);
  const tree = toTree(wide);
  assert.equal(tree.leftOut, 100_000 - tree.children!.length);
  const deep = JSON.parse(`${"[".repeat(100_000)}1${"]".repeat(100_000)}`);
  assert.equal(count(toTree(deep)), 33);
});

test("every kind of value has a text", () => {
  const texts = [null, true, 1.5, 12345678901234567890n, "", new Uint8Array(), new BigInt64Array([-1n])].map((value) =>
    toTree(value),
  );
  assert.deepEqual(
    texts.map(({ text }) => text),
    ["null", "true", "1.5", "12345678901234567890", "", "0 bytes", "1 element"],
  );
  assert.deepEqual(texts.at(-1)!.children, [{ name: "0", text: "-1" }]);
});

function count(node: ReturnType<typeof toTree>): number {
  return 1 + (node.children ?? []).reduce((sum, child) => sum + count(child), 0);
}
