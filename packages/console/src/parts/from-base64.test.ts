import assert from "node:assert/strict";
import { test } from "node:test";
import { coverageBits } from "@downlink/protocol";
import fc from "fast-check";
import { bits } from "../timeline/paint-row.ts";
import { fromBase64 } from "./from-base64.ts";

test("cells are read byte by byte, and their bits mean here what they mean to the service", () => {
  fc.assert(
    fc.property(fc.uint8Array(), (cells) => {
      assert.deepEqual(fromBase64(Buffer.from(cells).toString("base64")), cells);
    }),
  );
  const { unasked, ...known } = bits;
  assert.deepEqual(known, coverageBits);
  assert.ok(Object.values(coverageBits).every((bit) => (bit & unasked) === 0));
});
