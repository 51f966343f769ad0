import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { RecordingError } from "../faults/reasons.ts";
import { visitRecords } from "./chunk-records.ts";
import { createPieceVisitor } from "./visit-pieces.ts";

function part(bytes: Uint8Array): Buffer {
  const head = Buffer.alloc(4);
  head.writeUInt32LE(bytes.byteLength);
  return Buffer.concat([head, bytes]);
}

function field(name: string, value: Uint8Array): Buffer {
  return part(Buffer.concat([Buffer.from(`${name}=`), value]));
}

function u32(value: number): Buffer {
  return Buffer.from(Uint32Array.of(value).buffer);
}

/** Makes a message, or every tenth time a connection. */
function record(index: number, dataBytes: number): Buffer {
  const isConnection = index % 10 === 0;
  const fields = isConnection
    ? [field("op", Buffer.of(7)), field("conn", u32(index)), field("topic", Buffer.from("/a"))]
    : [field("op", Buffer.of(2)), field("conn", u32(0)), field("time", Buffer.concat([u32(index), u32(7)]))];
  return Buffer.concat([part(Buffer.concat(fields)), part(Buffer.alloc(dataBytes, index))]);
}

function visitWhole(bytes: Uint8Array): unknown[] {
  const seen: unknown[] = [];
  visitRecords(bytes, "the chunk", {
    connection: (_, data) => void seen.push(Buffer.from(data).toString("hex")),
    message: ({ channelId, logTimeNs, data }) =>
      void seen.push([channelId, logTimeNs, data.byteOffset - bytes.byteOffset, data.byteLength]),
  });
  return seen;
}

function visitInPieces(pieces: readonly Uint8Array[]): unknown[] {
  const seen: unknown[] = [];
  const visitor = createPieceVisitor(
    "the chunk",
    {
      connection: (_, data) => void seen.push(Buffer.from(data).toString("hex")),
      message: ({ channelId, logTimeNs, dataStart, dataBytes }) =>
        void seen.push([channelId, logTimeNs, dataStart, dataBytes]),
    },
    1000,
  );
  for (const piece of pieces) visitor.push(piece);
  visitor.end();
  return seen;
}

test("records that come in pieces are those that come as a whole, wherever the pieces end", () => {
  const sizes = fc.array(fc.nat(300), { minLength: 1, maxLength: 30 });
  fc.assert(
    fc.property(sizes, fc.array(fc.nat(), { maxLength: 20 }), (dataBytes, cuts) => {
      const bytes = Buffer.concat(dataBytes.map((size, index) => record(index, size)));
      const ends = [...cuts.map((cut) => cut % bytes.byteLength), bytes.byteLength].sort((a, b) => a - b);
      const pieces = ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
      assert.deepEqual(visitInPieces(pieces), visitWhole(bytes));
    }),
  );
});

test("a last record that is not whole throws, also if only a message's data are missing", () => {
  const bytes = Buffer.concat([record(0, 10), record(1, 200)]);
  for (const cutBytes of [1, 150, 199, 201, 230]) {
    const cut = bytes.subarray(0, bytes.byteLength - cutBytes);
    assert.throws(() => visitInPieces([cut.subarray(0, 20), cut.subarray(20)]), RecordingError, `${cutBytes}`);
  }
});

test("a header or a connection that would have to be held is refused before it is", () => {
  const longHeader = Buffer.concat([u32(2 ** 31), Buffer.alloc(50)]);
  assert.throws(() => visitInPieces([longHeader]), /at most 1000 are read/);
  assert.throws(() => visitInPieces([record(0, 1001)]), /at most 1000 are read/);
  assert.equal(visitInPieces([record(1, 5000)]).length, 1);
});
