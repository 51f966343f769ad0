import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { createClient } from "@downlink/client";
import { undiciTransport } from "@downlink/client/node";
import { createTestDatabase } from "@downlink/cloud/testing";
import { api } from "@downlink/protocol";
import { eventually, makeMcap } from "@downlink/recordings/testing";
import { requireNetwork } from "./faults/require-network.ts";
import { startControlPlane } from "./processes/control-plane.ts";
import { startEdgeAgent } from "./processes/edge-agent.ts";

test("a robot in another network uploads to a control plane that was given no public address, and people there get their links", async (t) => {
  await using network = await requireNetwork(t);
  if (!network) return t.skip("no network of its own can be had here");
  const folder = await mkdtemp(join(tmpdir(), "downlink-another-machine-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const [dataDir, storageRoot, stateDir] = ["cloud", "robot", "agent"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  await mkdir(storageRoot);
  const recording = await makeMcap();
  await writeFile(join(storageRoot, "a.mcap"), recording);
  const env = { DOWNLINK_HOST: "0.0.0.0", DATABASE_URL: await createTestDatabase(t) };
  await using cloud = await startControlPlane({ dataDir, env });
  const url = `http://${network.addresses[0]}:${new URL(cloud.url).port}`;
  const admin = createClient({ baseUrl: url, token: cloud.adminKey, transport: undiciTransport() });

  const { id: deviceId } = await admin.call(api.devices.create, { name: "rover" });
  const { token } = await admin.call(api.deviceTokens.create, { deviceId });
  await using agent = startEdgeAgent({ url, token: token!, storageRoot, stateDir, within: network.within });
  const [listed] = await eventually(
    () => admin.call(api.recordings.list, {}),
    ({ length }) => length === 1,
  );
  const { id: recordingId } = listed!;
  await admin.call(api.recordings.requestImport, { keyOrId: recordingId });
  await eventually(
    () => admin.call(api.recordings.get, { keyOrId: recordingId }),
    ({ importStatus }) => importStatus === "complete",
  );
  const { link } = await admin.call(api.exports.create, { recordingId });
  assert.ok(link.startsWith(url), link);
  assert.ok((await (await fetch(link)).bytes()).length > 0);
  assert.equal(await agent.end("SIGTERM"), 0);
});
