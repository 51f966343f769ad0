import assert from "node:assert/strict";
import { test } from "node:test";
import type { PendingImport, Recording } from "@downlink/protocol";
import { failedRecordings, failedUploads } from "./failed-import.ts";
import { adviceOn, retryText } from "./failure-advice.ts";
import { groupFailures } from "./group-failures.ts";

function request(errorCode: string | undefined, more: Partial<PendingImport> = {}): PendingImport {
  return { requestId: "req_1", errorCode, deviceName: "rover-1", filename: "a.mcap", ...more } as PendingImport;
}

function failed(errorCode: string | undefined, more: Partial<PendingImport> = {}) {
  return failedUploads([request(errorCode, more)])[0]!;
}

function recording(id: string, code = "BadChunk"): Recording {
  return { id, path: `${id}.mcap`, createdAt: 1n, failure: { code, text: "it is damaged" } } as Recording;
}

test("recordings decide which imports failed; requests only say what can be done, and those without a recording are uploads", () => {
  const requests = [
    request("BadChunk", { recordingId: "rec_1", updatedAt: 7n }),
    request("BadChunk", { recordingId: "rec_imported_since" }),
    request("NoEnd", { requestId: "req_2" }),
  ];
  const shown = failedRecordings([recording("rec_1"), recording("rec_lost", "ObjectMissing")], requests);
  assert.deepEqual(
    shown.map(({ path, code, atNs, request: given }) => [path, code, atNs, given?.requestId]),
    [
      ["rec_1.mcap", "BadChunk", 7n, "req_1"],
      ["rec_lost.mcap", "ObjectMissing", 1n, undefined],
    ],
  );
  assert.deepEqual(
    failedUploads(requests).map(({ id, code }) => [id, code]),
    [["req_2", "NoEnd"]],
  );
});

test("failures are grouped by code, the most frequent first, with the devices that they come from", () => {
  const groups = groupFailures([
    failed("KeyTaken"),
    failed("BadChunk", { deviceName: "rover-2" }),
    failed("BadChunk"),
    failed("BadChunk"),
  ]);
  assert.deepEqual(
    groups.map(({ code, imports, deviceNames }) => [code, imports.length, deviceNames]),
    [
      ["BadChunk", 3, ["rover-1", "rover-2"]],
      ["KeyTaken", 1, ["rover-1"]],
    ],
  );
  assert.equal(groupFailures([failed("KeyTaken"), failed("BadChunk")], "BadChunk").length, 1);
});

test("only uploads of readable pieces can be salvaged here", () => {
  const salvageable = (...imports: Parameters<typeof groupFailures>[0]) =>
    groupFailures(imports)[0]!.salvageable.length;
  assert.equal(salvageable(failed("BadChunk"), ...failedRecordings([recording("rec_1")], [])), 1);
  assert.equal(salvageable(failed("BadChunk", { salvageOf: "req_1" })), 0);
  assert.equal(salvageable(failed("KeyTaken")), 0);
});

test("a code that is not known here, or none, still says something, also if it is named as what every object has", () => {
  for (const code of ["constructor", "__proto__"]) assert.equal(adviceOn(code).title, code);
  assert.equal(adviceOn("NewCode").title, "New code");
  assert.equal(groupFailures([failed(undefined)])[0]!.advice.title, "Failed");
  assert.match(retryText(adviceOn("NoEnd")), /fails again/);
  assert.match(retryText(adviceOn("ObjectMissing")), /can help/);
});
