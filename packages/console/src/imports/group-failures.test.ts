import assert from "node:assert/strict";
import { test } from "node:test";
import type { PendingImport } from "@downlink/protocol";
import { adviceOn, retryText } from "./failure-advice.ts";
import { groupFailures } from "./group-failures.ts";

function failed(errorCode: string | undefined, more: Partial<PendingImport> = {}): PendingImport {
  return { errorCode, deviceName: "rover-1", filename: "a.mcap", status: "error", ...more } as PendingImport;
}

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
  const salvageable = (...imports: PendingImport[]) => groupFailures(imports)[0]!.salvageable.length;
  assert.equal(salvageable(failed("BadChunk"), failed("BadChunk", { recordingId: "rec_1" })), 1);
  assert.equal(salvageable(failed("BadChunk", { salvageOf: "req_1" })), 0);
  assert.equal(salvageable(failed("KeyTaken")), 0);
});

test("a code that is not known here, or none, still says something, also if it is named as what every object has", () => {
  for (const code of ["NewCode", "constructor", "__proto__"]) assert.equal(adviceOn(code).title, code);
  assert.equal(groupFailures([failed(undefined)])[0]!.advice.title, "Failed");
  assert.match(retryText(adviceOn("NoEnd")), /fails again/);
  assert.match(retryText(adviceOn("ObjectMissing")), /can help/);
});
