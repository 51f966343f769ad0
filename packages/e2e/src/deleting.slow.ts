import { test } from "node:test";
import { startScenario } from "./processes/scenario.ts";
import { deletesImported, deletesOld } from "./scenarios/deleting.ts";

test("files that may be deleted are deleted on the device, and others stay", async (t) => {
  const scenario = await startScenario(t);
  await Promise.all([
    t.test(
      "an imported recording is deleted on the device if the settings say so, and stays complete in the cloud",
      () => deletesImported(scenario),
    ),
    t.test("a recording older than the retention is deleted, imported or not, and leaves the list", (sub) =>
      deletesOld(scenario, sub),
    ),
  ]);
});
