import assert from "node:assert/strict";
import { test } from "node:test";
import type { Piece } from "@downlink/protocol";
import { ApiCallError } from "./errors.ts";
import { type PartInPieces, sendInPieces } from "./send-in-pieces.ts";

const KIB = 1024;
const LENGTH = 1000 * KIB;

/** A part of which the first bytes are held already. `sent` gets the offsets that are sent. */
function holdPart(heldBytes: number, more: Partial<PartInPieces> = {}) {
  const held: Piece[] = heldBytes > 0 ? [{ offset: 0, length: heldBytes, sha256: "x" }] : [];
  const end = () => held.reduce((sum, { length }) => sum + length, 0);
  const sent: number[] = [];
  const part: PartInPieces = {
    ...{ length: LENGTH, digest: { sha256: "whole" }, minBytes: 64 * KIB },
    ...{ sentWholeBytes: 0, way: { losesParts: false }, onHeld: () => undefined },
    hash: async ({ offset }) => ({ sha256: `at ${offset}` }),
    grant: async (pieces) => {
      const grants = pieces[0]!.offset === end() ? pieces : [];
      return { held: [...held], grants: grants.map(({ offset }) => ({ offset, url: `${offset}`, headers: {} })) };
    },
    put: async ({ url }, range) => {
      if (range.offset !== end()) throw refuse("Conflict");
      assert.equal(url, `${range.offset}`);
      sent.push(range.offset);
      held.push({ ...range, sha256: "x" });
    },
    compose: async () => assert.equal(end(), LENGTH),
    ...more,
  };
  return { part, held, sent };
}

const refuse = (code: string) => new ApiCallError({ status: 409, message: code, code });

test("only what is not held is sent, in pieces of 256 KiB, and nothing where all of it is held", async () => {
  const { part, sent } = holdPart(300 * KIB);
  await sendInPieces(part);
  assert.deepEqual(sent, [300 * KIB, 556 * KIB, 812 * KIB]);
  const whole = holdPart(LENGTH);
  await sendInPieces(whole.part);
  assert.deepEqual(whole.sent, []);
});

test("where the service turns out to hold more, it goes on there, as often as it holds more", async () => {
  let late = 3;
  const { part, held, sent } = holdPart(0);
  const put: PartInPieces["put"] = async (target, range) => {
    if (late-- > 0) held.push({ offset: range.offset, length: 100 * KIB, sha256: "late" });
    await part.put(target, range);
  };
  await sendInPieces({ ...part, put });
  assert.deepEqual(sent, [300 * KIB, 556 * KIB, 812 * KIB]);
});

test("a part that is refused though nothing more is held is given up", async () => {
  const never = holdPart(0, { put: () => Promise.reject(refuse("Conflict")) });
  await assert.rejects(sendInPieces(never.part), /Conflict/);
  let composed = 0;
  const other = holdPart(200 * KIB);
  const compose = async () => {
    composed += 1;
    other.held.length = 0;
    throw refuse("DigestMismatch");
  };
  await assert.rejects(sendInPieces({ ...other.part, compose }), /DigestMismatch/);
  assert.deepEqual([composed, other.sent.filter((offset) => offset === 0)], [2, [0]]);
});

test("a way on which much was sent, and of which nothing is held, is known to lose parts", async () => {
  for (const [heldBytes, sentWholeBytes, losesParts] of [
    [0, 2_000_000, true],
    [0, 500_000, false],
    [64 * KIB, 2_000_000, false],
  ] as const) {
    const { part } = holdPart(heldBytes, { sentWholeBytes });
    await sendInPieces(part);
    assert.equal(part.way.losesParts, losesParts);
  }
});
