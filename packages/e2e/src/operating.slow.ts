import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { api } from "@downlink/protocol";
import { eventually, makeMcap } from "@downlink/recordings/testing";
import { runAgentCommand } from "./processes/edge-agent.ts";
import { startScenario } from "./processes/scenario.ts";

test("the settings that an operator makes for a device's agent apply: first it is paused, then matching files are imported once without a request", async (t) => {
  const scenario = await startScenario(t);
  const { admin } = scenario.cloud();
  const { deviceId: nameOrId, storageRoot } = scenario;
  await mkdir(join(storageRoot, "keep"));
  await writeFile(join(storageRoot, "keep", "a.mcap"), await makeMcap());
  await writeFile(join(storageRoot, "b.mcap"), await makeMcap({ seed: 2 }));
  scenario.startAgent();
  await eventually(scenario.recordings, (all) => all.length === 2);

  const statusOf = async (path: string) => (await scenario.recordings()).find((one) => one.path === path)?.importStatus;
  await admin.call(api.agentSettings.put, { nameOrId, autoImport: ["keep/**"], uploadRate: "off" });
  await eventually(
    () => statusOf("keep/a.mcap"),
    (status) => status === "pending",
  );
  assert.deepEqual(await scenario.storedObjects(), []);
  const explained = await runAgentCommand(scenario.agentOptions, "explain", "keep/a.mcap");
  assert.match(explained.output, /uploads are paused: the upload rate is off/);
  const examined = await runAgentCommand(scenario.agentOptions, "doctor");
  for (const finding of [/^ok +Agent +healthy/m, /^ok +Token +the control plane accepts it/m, /^ok +Clock /m])
    assert.match(examined.output, finding);
  assert.doesNotMatch(examined.output, /^fail/m);

  await admin.call(api.agentSettings.put, { nameOrId, autoImport: ["keep/**"] });
  await eventually(
    () => statusOf("keep/a.mcap"),
    (status) => status === "complete",
  );
  assert.equal(await statusOf("b.mcap"), "none");

  const imported = (await scenario.recordings()).find((one) => one.path === "keep/a.mcap")!;
  await admin.call(api.recordings.delete, { keyOrId: imported.id });
  await writeFile(join(storageRoot, "keep", "c.mcap"), await makeMcap({ seed: 3 }));
  await eventually(
    () => statusOf("keep/c.mcap"),
    (status) => status === "complete",
  );
  assert.equal(await statusOf("keep/a.mcap"), "none", "what a person deleted again stays so");
});
