import assert from "node:assert/strict";
import { test } from "node:test";
import type { EdgeWork, WantedImport } from "@downlink/protocol";
import { createWorkBoard } from "./work-board.ts";

function workAt(stage: WantedImport["stage"]): EdgeWork {
  const request = { requestId: "req_1", recordingId: "rec_1", versionId: "version-0000-0001", priority: 0 };
  return {
    imports: [{ ...request, stage, requestedAt: 1n }],
    salvages: [],
    settings: { enabled: true, retainRecordingsSeconds: 0, autoDeleteAfterImport: false },
  };
}

test("the end of an import is acknowledged once, until the cloud names it again", () => {
  const board = createWorkBoard();
  board.update(workAt("failed"));
  assert.deepEqual(board.unacknowledged(), ["req_1"]);
  board.acknowledged(["req_1"]);
  assert.deepEqual(board.unacknowledged(), []);
});

test("an import that was retried in the cloud ends again, and that is acknowledged too", () => {
  const board = createWorkBoard();
  board.update(workAt("failed"));
  board.acknowledged(["req_1"]);
  board.update(workAt("processing"));
  assert.deepEqual(board.unacknowledged(), []);
  board.update(workAt("imported"));
  assert.deepEqual(board.unacknowledged(), ["req_1"]);
});

const settings = { enabled: true, retainRecordingsSeconds: 0, autoDeleteAfterImport: false };

function request(number: number, stage: WantedImport["stage"] = "deliver"): WantedImport {
  const versionId = `version-0000-${String(number).padStart(4, "0")}`;
  return { requestId: `req_${number}`, recordingId: "rec", versionId, stage, priority: 0, requestedAt: BigInt(number) };
}

const partOf = (imports: WantedImport[], cancelled: string[] = []): EdgeWork => ({
  ...{ imports, cancelled, more: true, salvages: [], settings },
});
const wholeOf = (imports: WantedImport[]): EdgeWork => ({ imports, salvages: [], settings });
const idsOf = (board: ReturnType<typeof createWorkBoard>) => board.wanted().map(({ requestId }) => requestId);

test("if the cloud says that there are more requests, an absent one is still wanted, unless it is listed as cancelled", () => {
  const board = createWorkBoard();
  board.update(wholeOf([request(1), request(2), request(3)]));
  board.update(partOf([request(4)], ["req_2", "req_unknown"]));
  assert.deepEqual(idsOf(board), ["req_4", "req_1", "req_3"]);
  assert.equal(board.byVersion().get(request(1).versionId)?.requestId, "req_1");
  assert.deepEqual(board.unacknowledged(), ["req_2", "req_unknown"]);
  board.acknowledged(["req_2", "req_unknown"]);
  assert.deepEqual(board.unacknowledged(), []);
  board.update(partOf([request(2)], ["req_2"]));
  assert.deepEqual(idsOf(board), ["req_2", "req_4", "req_1", "req_3"], "what is wanted is not cancelled");
  board.update(wholeOf([request(3)]));
  assert.deepEqual(idsOf(board), ["req_3"], "a whole set says all");
});

test("a delivered request is not begun again because a later answer does not name it", () => {
  const board = createWorkBoard();
  board.update(partOf([request(1), request(2)]));
  board.close(request(1));
  board.update(partOf([request(3)]));
  assert.ok(board.isClosed(request(1)));
  board.update(partOf([request(1)]));
  assert.ok(!board.isClosed(request(1)), "the cloud asks for it again");
});

test("an acknowledged end is not kept, and one that has yet to be acknowledged is", () => {
  const board = createWorkBoard();
  board.update(partOf([request(1, "imported"), request(2, "failed")]));
  board.acknowledged(["req_1"]);
  board.update(partOf([request(3)]));
  assert.deepEqual(idsOf(board), ["req_3", "req_2"]);
  assert.deepEqual(board.unacknowledged(), ["req_2"]);
});

test("a request that the cloud refuses and did not name last is forgotten; one that it named waits for its next answer", () => {
  const board = createWorkBoard();
  board.update(partOf([request(1), request(2)]));
  board.update(partOf([request(2)]));
  board.refused(request(1));
  board.refused(request(2));
  assert.deepEqual([idsOf(board), board.isClosed(request(2))], [["req_2"], true]);
});

test("however many the cloud names in turn, a bounded number is kept", () => {
  const board = createWorkBoard();
  for (let batch = 0; batch < 5; batch++)
    board.update(partOf(Array.from({ length: 8000 }, (_, n) => request(batch * 8000 + n))));
  assert.equal(board.wanted().length, 18_000);
});

test("if the cloud wants another version under the same request meanwhile, the end of the former one closes nothing", () => {
  const board = createWorkBoard();
  const [former, now] = [request(1), { ...request(1), versionId: request(2).versionId }];
  board.update(wholeOf([former]));
  board.update(wholeOf([now]));
  board.refused(former);
  assert.deepEqual([board.isClosed(now), board.wanted()], [false, [now]]);
  board.close(former);
  assert.ok(!board.isClosed(now));
  board.close(now);
  assert.ok(board.isClosed(now));
  board.update(wholeOf([now]));
  board.update(partOf([request(3)]));
  board.refused(former);
  assert.deepEqual(idsOf(board), ["req_3", "req_1"], "a request that is kept from a former answer stays");
});
