import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { TestContext } from "node:test";
import type { ApiCallError } from "@downlink/client";
import { api } from "@downlink/protocol";
import { eventually, makeMcap } from "@downlink/recordings/testing";
import { startEdgeAgent } from "../processes/edge-agent.ts";
import { type Scenario, sha256Of } from "../processes/scenario.ts";

/** An imported file is deleted on the device by a permit if the settings say so, and stays complete in the cloud. */
export async function deletesImported(scenario: Scenario): Promise<void> {
  const { admin } = scenario.cloud();
  const { deviceId, storageRoot } = scenario;
  await admin.call(api.devices.update, { nameOrId: deviceId, autoDeleteAfterImport: true });
  const [path, other] = [join(storageRoot, "a.mcap"), join(storageRoot, "b.mcap")];
  await writeFile(path, await makeMcap());
  await writeFile(other, await makeMcap({ seed: 2 }));
  const sha256 = await sha256Of(path);
  scenario.startAgent();
  const here = () => admin.call(api.recordings.list, { deviceId });
  const all = await eventually(here, (found) => found.length === 2);
  const { id } = all.find((one) => one.path === "a.mcap")!;
  await admin.call(api.recordings.requestImport, { keyOrId: id });
  await scenario.until("complete", id);
  await untilGone(path);
  assert.deepEqual(
    (await scenario.storedObjects()).map((object) => object.sha256),
    [sha256],
  );
  assert.ok(existsSync(other));
  assert.equal((await admin.call(api.recordings.requestImport, { keyOrId: id })).importStatus, "complete");

  await admin.call(api.recordings.delete, { keyOrId: id });
  const isNotFound = (error: ApiCallError) => error.status === 404;
  await assert.rejects(admin.call(api.recordings.get, { keyOrId: id }), isNotFound, "nothing is left of it");
}

/** A file older than the retention is deleted on the device, imported or not. */
export async function deletesOld(scenario: Scenario, t: TestContext): Promise<void> {
  const { admin } = scenario.cloud();
  const { id: deviceId } = await admin.call(api.devices.create, { name: "rover-2" });
  await admin.call(api.devices.update, { nameOrId: deviceId, retainRecordingsSeconds: 3 });
  const { token } = await admin.call(api.deviceTokens.create, { deviceId });
  const [storageRoot, stateDir] = [`${scenario.storageRoot}-2`, `${scenario.agentOptions.stateDir}-2`];
  await mkdir(storageRoot);
  const [old, recent] = [join(storageRoot, "old.mcap"), join(storageRoot, "recent.mcap")];
  await writeFile(old, await makeMcap());
  await writeFile(recent, await makeMcap({ startNs: BigInt(Date.now() + 86_400_000) * 1_000_000n }));
  const agent = startEdgeAgent({ ...scenario.agentOptions, token: token!, storageRoot, stateDir });
  t.after(() => agent.end("SIGKILL").then(() => undefined));
  const here = () => admin.call(api.recordings.list, { deviceId });
  await eventually(here, (found) => found.length === 2);
  await untilGone(old);
  await eventually(here, (found) => found.length === 1 && found[0]!.path === "recent.mcap");
  assert.ok(existsSync(recent));
}

async function untilGone(path: string): Promise<void> {
  await eventually(
    async () => existsSync(path),
    (isThere) => !isThere,
  );
}
