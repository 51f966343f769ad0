import assert from "node:assert/strict";
import { test } from "node:test";
import type { FileState } from "../inventory/file-state.ts";
import type { FileIdentity } from "../inventory/identity.ts";
import type { TrackedFile } from "../inventory/tracked-file.ts";
import { createStoppedClock } from "../testing/test-clock.ts";
import { createRecheckBoard, recheckMethod } from "./recheck-board.ts";

const was: FileIdentity = { device: 0, inode: 1, sizeBytes: 10, mtimeNs: 1n, ctimeNs: 1n };
const touched = (mtimeNs: bigint): FileIdentity => ({ ...was, mtimeNs, ctimeNs: mtimeNs });
const tracked = (versionId: string, state: FileState = "reported"): TrackedFile => ({
  ...{ versionId, path: `${versionId}.mcap`, identity: was, state },
  ...{ reportedAs: undefined, needsReport: false, revision: 0, foundIn: 0 },
});

function makeBoard(hashes: Readonly<Record<string, string>> = {}) {
  const clock = createStoppedClock();
  const contentHash = (versionId: string) => hashes[versionId];
  const board = createRecheckBoard({ clock, contentHash, settleTimeMs: 2000, restlessAfterMs: 600_000 });
  const idsDue = (isWholeRead = false) => board.due(isWholeRead).map(({ versionId }) => versionId);
  return { board, clock, idsDue };
}

test("a file is read once it stood still, and again when it moves on", () => {
  const { board, clock, idsDue } = makeBoard();
  const file = tracked("a");
  board.sync([{ file, identity: touched(5n) }]);
  assert.deepEqual([board.has("a"), idsDue(), board.nextDueMs(false)], [true, [], 2000]);
  clock.atMs = 1900;
  board.sync([{ file, identity: touched(6n) }]);
  clock.atMs = 2100;
  board.sync([{ file, identity: { ...touched(6n) } }]);
  assert.deepEqual(idsDue(), []);
  clock.atMs = 3900;
  assert.deepEqual(idsDue(), ["a"]);
  board.forget("a");
  assert.deepEqual([board.has("a"), idsDue(), board.nextDueMs(false)], [false, [], undefined]);
});

test("a file that the next scan finds unchanged is not read any more", () => {
  const { board } = makeBoard();
  board.sync([{ file: tracked("a"), identity: touched(5n) }]);
  board.sync([]);
  assert.equal(board.has("a"), false);
});

test("a file that never stands still is another one in the end: a request for it must not wait for ever", () => {
  const { board, clock } = makeBoard();
  const file = tracked("a");
  for (let mtimeNs = 2n; clock.atMs <= 601_000; mtimeNs += 1n, clock.atMs += 1000) {
    board.sync([{ file, identity: touched(mtimeNs) }]);
    assert.equal(board.due(false).length, clock.atMs > 600_000 ? 1 : 0, `after ${clock.atMs} ms`);
  }
  assert.equal(board.due(false)[0]!.isRestless, true);
});

test("what cannot be read is tried again after longer and longer pauses, five minutes at most", () => {
  const { board, clock, idsDue } = makeBoard();
  board.sync([{ file: tracked("a"), identity: touched(5n) }]);
  const pauses: number[] = [];
  for (let failures = 1; failures <= 9; failures++) {
    clock.atMs += board.nextDueMs(false)!;
    assert.deepEqual(idsDue(), ["a"]);
    assert.equal(board.postpone("a"), failures);
    pauses.push(board.nextDueMs(false)!);
  }
  assert.deepEqual(pauses, [4000, 8000, 16_000, 32_000, 64_000, 128_000, 256_000, 300_000, 300_000]);
});

test("a known hash decides, also for a file that was never sent; a file that was delivered without a known hash is never taken for the same", () => {
  assert.equal(recheckMethod("imported", "hash"), "hash");
  assert.equal(recheckMethod("reported", "hash"), "hash");
  for (const state of ["reported", "requested", "failed", "incomplete", "damaged"] as const)
    assert.equal(recheckMethod(state, undefined), "ends");
  for (const state of ["stored", "imported"] as const) assert.equal(recheckMethod(state, undefined), "nothing");
});

test("files that are read whole wait in a queue of their own", () => {
  const { board, clock, idsDue } = makeBoard({ b: "hash" });
  board.sync(["a", "b"].map((id) => ({ file: tracked(id), identity: touched(5n) })));
  clock.atMs = 2000;
  assert.deepEqual([idsDue(false), idsDue(true)], [["a"], ["b"]]);
});
