import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { api } from "@downlink/protocol";
import { eventually, makeMcap } from "@downlink/recordings/testing";
import { runAgentCommand, startEdgeAgent } from "./processes/edge-agent.ts";
import { startScenario } from "./processes/scenario.ts";

test("a robot with a token that can only create a device enrols by itself, waits for approval, and delivers", async (t) => {
  const scenario = await startScenario(t);
  const { admin } = scenario.cloud();
  const [project] = await admin.call(api.projects.list, {});
  const { token } = await admin.call(api.deviceTokens.create, { projectId: project!.id });
  const options = { ...scenario.agentOptions, token: token!, env: { DOWNLINK_DEVICE_NAME: "fresh-robot" } };
  await writeFile(join(scenario.storageRoot, "a.mcap"), await makeMcap());
  await using _agent = startEdgeAgent(options);
  const id = await scenario.requestOnly();
  const device = await admin.call(api.devices.get, { nameOrId: "fresh-robot" });
  assert.deepEqual([device.enabled, device.agent?.online], [false, true]);
  const shown = await eventually(
    () => runAgentCommand(options, "status"),
    ({ output }) => output.includes("The device is disabled"),
  );
  assert.match(shown.output, /Enable the device in the control plane/);
  await admin.call(api.devices.update, { nameOrId: device.id, enabled: true });
  const recording = await scenario.until("complete", id);
  assert.equal(recording.device?.name, "fresh-robot");
});

test("one agent serves a site's shared store: each robot's files become its own recordings, from its folder", async (t) => {
  const scenario = await startScenario(t);
  const { admin } = scenario.cloud();
  const site = await admin.call(api.sites.create, { name: "depot", type: "edge" });
  const { token } = await admin.call(api.siteTokens.create, { siteId: site.id });
  for (const [index, robot] of ["rover", "new-rover"].entries()) {
    await mkdir(join(scenario.storageRoot, robot), { recursive: true });
    await writeFile(join(scenario.storageRoot, robot, "run.mcap"), await makeMcap({ seed: index }));
  }
  await writeFile(join(scenario.storageRoot, "stray.mcap"), await makeMcap({ seed: 9 }));
  const env = { DOWNLINK_DEVICE_TOKEN: "", DOWNLINK_SITE_TOKEN: token!, DOWNLINK_SITE_DEVICE_FROM_PATH: "true" };
  const options = { ...scenario.agentOptions, env };
  await using _agent = startEdgeAgent(options);
  const recordings = await eventually(scenario.recordings, (all) => all.length === 2);
  assert.deepEqual(recordings.map(({ path, device, edgeSite }) => [path, device?.name, edgeSite?.name]).sort(), [
    ["new-rover/run.mcap", "new-rover", "depot"],
    ["rover/run.mcap", "rover", "depot"],
  ]);
  const [stray] = await eventually(
    () => admin.call(api.edgeFiles.list, {}),
    (all) => all.length === 1,
  );
  assert.deepEqual([stray!.path, stray!.state, stray!.reason?.code], ["stray.mcap", "unassigned", "NoDevice"]);
  for (const { id } of recordings) await admin.call(api.recordings.requestImport, { keyOrId: id });
  await eventually(scenario.recordings, (all) => all.every(({ importStatus }) => importStatus === "complete"));
  const { output } = await runAgentCommand(options, "status");
  assert.match(output, /Site +depot/);
});
