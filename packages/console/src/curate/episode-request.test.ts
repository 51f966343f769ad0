import assert from "node:assert/strict";
import { test } from "node:test";
import { importedOf, refusedPlaces, toSlice } from "./episode-request.ts";

test("an episode is the part of a recording that lies in the span; a recording within it is taken as it is", () => {
  const recording = { id: "rec_1", start: 10n, end: 20n };
  assert.deepEqual(toSlice(recording, undefined), { recordings: ["rec_1"] });
  assert.deepEqual(toSlice(recording, { startNs: 10n, endNs: 20n }), { recordings: ["rec_1"] });
  assert.deepEqual(toSlice(recording, { startNs: 12n, endNs: 30n }), {
    recordings: ["rec_1"],
    startTime: 12n,
    endTime: 20n,
  });
  assert.deepEqual(toSlice(recording, { startNs: 0n, endNs: 15n }), {
    recordings: ["rec_1"],
    startTime: 10n,
    endTime: 15n,
  });
});

test("only events that the service names are left out: any other fault ends the work", () => {
  const details = [{ path: "episodes.0.eventId" }, { path: "episodes.12.eventId" }, { path: "episodes.3.recordings" }];
  assert.deepEqual([...refusedPlaces(details)], [0, 12]);
  assert.deepEqual([...refusedPlaces([{ path: "projectId" }])], []);
});

test("a filter that lets no imported recording through makes no episode, and is not widened to those that it hides", () => {
  const filter = { projectId: "prj_1", pathMatches: "run" };
  const sorted = { importStatus: ["complete"], sortBy: "start" };
  assert.deepEqual(importedOf(filter), { ...filter, ...sorted });
  assert.deepEqual(importedOf({ ...filter, importStatus: ["failed", "complete"] }), { ...filter, ...sorted });
  assert.equal(importedOf({ ...filter, importStatus: ["none", "failed"] }), undefined);
});
