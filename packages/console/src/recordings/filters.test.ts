import assert from "node:assert/strict";
import { test } from "node:test";
import { parseTimestamp } from "@downlink/protocol";
import { readParams } from "../url/params.ts";
import { activeFilters, listParams, toFilter } from "./filters.ts";

const NOW = Date.UTC(2026, 3, 14, 12);
const valuesOf = (address: string) => readParams(listParams, Object.fromEntries(new URLSearchParams(address))).values;

test("the service is asked for what the address says, and for no more", () => {
  assert.deepEqual(toFilter(valuesOf(""), "prj_1", NOW), { projectId: "prj_1" });
  const address = "from=now-1d&device=rover-2&status=failed,none&path=run&topic=/imu&meta=operator:ann";
  assert.deepEqual(toFilter(valuesOf(address), "prj_1", NOW), {
    projectId: "prj_1",
    start: parseTimestamp("2026-04-13T12:00:00Z"),
    deviceName: "rover-2",
    importStatus: ["failed", "none"],
    topic: "/imu",
    metadataQuery: "operator:ann",
    pathMatches: "run",
  });
});

test("each filter can be dropped alone", () => {
  const values = valuesOf("from=now-1d&device=rover-2&status=failed");
  assert.deepEqual(
    activeFilters(values).map(({ name }) => name),
    ["time", "device", "status"],
  );
  for (const { without } of activeFilters(values)) assert.equal(activeFilters({ ...values, ...without }).length, 2);
});

test("a time is named to the second with its zone, and one that moves as it was typed", () => {
  const textOf = (address: string) => activeFilters(valuesOf(address))[0]!.text;
  assert.equal(textOf("from=2026-04-14T03:00:12.000000001Z"), "2026-04-14 03:00:12 UTC – now");
  assert.equal(textOf("from=now-1d&to=2026-04-14"), "now-1d – 2026-04-14 00:00:00 UTC");
});
