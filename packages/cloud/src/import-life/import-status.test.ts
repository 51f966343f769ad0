import assert from "node:assert/strict";
import { test } from "node:test";
import type { ImportStatus } from "@downlink/protocol";
import { nextImportStatus, type RecordingEvent } from "./import-status.ts";

const statuses: ImportStatus[] = ["none", "pending", "importing", "failed", "complete"];

/** [event, from none, pending, importing, failed, complete], with an edge copy. */
const table: [RecordingEvent, ...string[]][] = [
  ["request", "pending", "pending", "importing", "pending", "complete"],
  ["cancel", "none", "none", "importing", "failed", "complete"],
  ["stored", "none", "importing", "importing", "failed", "complete"],
  ["redeliver", "none", "pending", "pending", "failed", "complete"],
  ["retry", "none", "pending", "importing", "importing", "complete"],
  ["imported", "none", "pending", "complete", "failed", "complete"],
  ["fail", "none", "failed", "failed", "failed", "complete"],
  ["edgeGone", "removed", "failed", "importing", "failed", "complete"],
  ["deleteData", "none", "none", "none", "none", "none"],
  ["adopted", "complete", "complete", "complete", "complete", "complete"],
  ["objectLost", "none", "pending", "importing", "failed", "failed"],
];

for (const [event, ...expected] of table)
  test(`${event} leads from ${statuses.join(", ")} to ${expected.join(", ")}`, () => {
    assert.deepEqual(
      statuses.map((status) => nextImportStatus(status, event, true)),
      expected,
    );
  });

test("deleting the data of a recording without an edge copy removes the recording, whatever its status", () => {
  for (const status of statuses) assert.equal(nextImportStatus(status, "deleteData", false), "removed");
});

test("beside what a restore finds again, only `imported` leads to complete, and only from importing", () => {
  for (const [event] of table.filter(([name]) => name !== "adopted"))
    for (const status of statuses)
      if (status !== "complete" && nextImportStatus(status, event, true) === "complete")
        assert.deepEqual([event, status], ["imported", "importing"]);
});
