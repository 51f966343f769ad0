import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiCallError, NetworkError } from "@downlink/client";
import { createProblemBoard } from "../diagnostics/problems.ts";
import { systemClock } from "../system/clock.ts";
import { createConnectionMonitor } from "./connection.ts";

test("a new problem on the way to the cloud replaces the last one", () => {
  const problems = createProblemBoard(systemClock);
  problems.raise("StorageMissing", "not a matter of the network");
  const monitor = createConnectionMonitor({ clock: systemClock, problems });
  const codes = () => problems.list().map(({ code }) => code);
  monitor.noteFailure(new NetworkError("cannot reach x"));
  assert.deepEqual(codes(), ["StorageMissing", "CloudUnreachable"]);
  monitor.noteFailure(new ApiCallError({ message: "revoked", status: 401, code: "Unauthenticated" }));
  assert.deepEqual(codes(), ["StorageMissing", "TokenRefused"]);
  assert.equal(monitor.current().state, "refused");
  monitor.noteSuccess();
  assert.deepEqual(codes(), ["StorageMissing"]);
});
