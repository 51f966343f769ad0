import assert from "node:assert/strict";
import { copyFile, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { api } from "@downlink/protocol";
import { eventually } from "@downlink/recordings/testing";
import { runAgentCommand } from "./processes/edge-agent.ts";
import { writeLargeFile } from "./processes/large-file.ts";
import { type Scenario, sha256Of, startScenario } from "./processes/scenario.ts";

const MIB = 1024 * 1024;
/** The bytes of reports, polls and headers beside the files' own. */
const CHATTER_BYTES = 2 * MIB;

interface Explanation {
  readonly state: string;
  readonly why: string;
}

/** Runs a command of the real program, which must succeed. */
async function run({ agentOptions }: Scenario, ...args: string[]): Promise<string> {
  const { code, output } = await runAgentCommand(agentOptions, ...args);
  assert.equal(code, 0, output);
  return output;
}

async function explained(scenario: Scenario, file: string, state: string): Promise<string> {
  const ask = async () => JSON.parse(await run(scenario, "explain", file, "--json")) as Explanation;
  return (await eventually(ask, (explained) => explained.state === state)).why;
}

async function idOf(scenario: Scenario, path: string): Promise<string> {
  const found = await eventually(scenario.recordings, (all) => all.some((one) => one.path === path));
  return found.find((one) => one.path === path)!.id;
}

test("a file that is requested on the device is uploaded once uploads are not paused there, and its request says who made it", async (t) => {
  const scenario = await startScenario(t);
  const path = await writeLargeFile(scenario);
  scenario.startAgent();
  const id = await idOf(scenario, "large.mcap");
  assert.match(await run(scenario, "pause", "--for", "1h"), /^Uploads are paused by .* for 60 min/);
  assert.match(await run(scenario, "import", path), /^large\.mcap: its import is asked for/);
  await explained(scenario, "large.mcap", "requested");
  await scenario.agent().end("SIGKILL");
  scenario.startAgent();
  await eventually(
    () => explained(scenario, "large.mcap", "requested"),
    (why) => why.includes("uploads are paused: by "),
  );
  assert.ok(scenario.proxy.sentBytes() < CHATTER_BYTES);
  assert.equal(await run(scenario, "resume"), "Uploads go on.");
  await scenario.until("complete", id);
  const [object] = await scenario.storedObjects();
  assert.equal(object!.sha256, await sha256Of(path));
  const { admin } = scenario.cloud();
  const [request] = await admin.call(api.pendingImports.list, { deviceId: scenario.deviceId, showCompleted: true });
  assert.deepEqual(request!.requestedBy, { kind: "device", id: scenario.deviceId, name: "rover" });
});

test("a copy is recognized before it is sent and counts as stored; the agent hears correctly what the deletion of the first one means", async (t) => {
  const scenario = await startScenario(t);
  const { admin } = scenario.cloud();
  const path = await writeLargeFile(scenario);
  scenario.startAgent();
  const id = await idOf(scenario, "large.mcap");
  await run(scenario, "import", "large.mcap");
  await scenario.until("complete", id);
  await copyFile(path, join(scenario.storageRoot, "copy.mcap"));
  const copyId = await idOf(scenario, "copy.mcap");
  const sentBytes = scenario.proxy.sentBytes();
  await eventually(
    () => stat(join(scenario.storageRoot, "copy.mcap")),
    ({ ctimeMs }) => Date.now() - ctimeMs > 2500, // Before that time no hash of it proves anything.
  );
  await run(scenario, "import", "copy.mcap");
  await scenario.until("failed", copyId);
  assert.ok(scenario.proxy.sentBytes() - sentBytes < CHATTER_BYTES, "nothing of it was sent");
  assert.ok((await explained(scenario, "copy.mcap", "duplicate")).includes(`recording ${id} (large.mcap)`));
  assert.equal((await scenario.storedObjects()).length, 1);

  await admin.call(api.recordings.delete, { keyOrId: id });
  assert.match(await explained(scenario, "large.mcap", "reported"), /its data was deleted in the control plane/);
  assert.match(await explained(scenario, "copy.mcap", "reported"), /copy of a recording that was in the control plane/);
  await run(scenario, "import", "copy.mcap");
  await scenario.until("complete", copyId);
  await run(scenario, "import", "large.mcap");
  assert.ok((await explained(scenario, "large.mcap", "duplicate")).includes(`recording ${copyId} (copy.mcap)`));

  await admin.call(api.devices.update, { nameOrId: scenario.deviceId, autoDeleteAfterImport: true });
  await eventually(
    () => readdir(scenario.storageRoot),
    (names) => names.every((name) => !name.endsWith(".mcap")),
  );
  assert.equal((await admin.call(api.recordings.get, { keyOrId: copyId })).importStatus, "complete");
});
