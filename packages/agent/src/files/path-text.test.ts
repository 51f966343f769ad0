import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { systemPath, textOfName } from "./path-text.ts";

/** The bytes that matter: those that are no UTF-8, parts of characters, and parts of escapes. */
const byte = fc.constantFrom(0xff, 0xc3, 0xa9, 0xe2, 0x82, 0xac, 0xf0, 0x5c, 0x78, 0x35, 0x63, 0x66, 0x38, 0x61);
const name = fc
  .uint8Array({ minLength: 1, maxLength: 12 })
  .map((bytes) => bytes.filter((value) => value !== 0 && value !== 0x2f));
const tricky = fc.array(byte, { minLength: 1, maxLength: 12 }).map((bytes) => Uint8Array.from(bytes));

test("every name leads back to its bytes, and no two names are the same text", () => {
  const names = fc.oneof(name, tricky);
  fc.assert(
    fc.property(names, names, (first, second) => {
      const [text, other] = [textOfName(first), textOfName(second)];
      assert.ok(text.isWellFormed() && !text.includes("/") && !text.includes("\0"));
      assert.deepEqual(
        Buffer.from(systemPath("", text) as string),
        Buffer.concat([Buffer.from(first.length === 0 ? "" : "/"), first]),
      );
      assert.equal(text === other, Buffer.compare(first, second) === 0);
    }),
    { numRuns: 5000 },
  );
});

test("names in UTF-8 stay as they are, but for those that look like an escape", () => {
  for (const text of ["ü 日.mcap", "real\uFFFD.mcap", "C:\\x\\run.bag", "a\\xzz", "\\x41"])
    assert.equal(textOfName(Buffer.from(text)), text);
  assert.equal(textOfName(Buffer.from("a\\xff.mcap")), "a\\x5cxff.mcap");
  assert.equal(textOfName(Buffer.from("b\xff\xfe.mcap", "latin1")), "b\\xff\\xfe.mcap");
  assert.equal(systemPath("/root/\\xff", "a/b"), "/root/\\xff/a/b", "the root is no path below itself");
});
