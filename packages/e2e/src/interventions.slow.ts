import assert from "node:assert/strict";
import { test } from "node:test";
import { api } from "@downlink/protocol";
import { eventually } from "@downlink/recordings/testing";
import { runAgentCommand } from "./processes/edge-agent.ts";
import { PART_BYTES, writeLargeFile } from "./processes/large-file.ts";
import { type Scenario, sha256Of, startScenario } from "./processes/scenario.ts";

const MIB = 1024 * 1024;
/** The bytes of reports, polls and headers beside the file's own. */
const CHATTER_BYTES = 2 * MIB;
const HELD_AT = 40 * MIB;

interface Status {
  readonly problems: readonly { readonly code: string }[];
  readonly transfers: readonly unknown[];
  readonly files: Readonly<Record<string, number>>;
}

async function statusOf({ agentOptions }: Scenario): Promise<Status> {
  return JSON.parse((await runAgentCommand(agentOptions, "status", "--json")).output) as Status;
}

/** Brings an upload to its middle, where an admin intervenes by `act`; then the link is free again. */
async function intervene(scenario: Scenario, act: (recordingId: string) => Promise<unknown>) {
  const path = await writeLargeFile(scenario);
  scenario.startAgent();
  scenario.proxy.holdAfter(HELD_AT);
  const id = await scenario.requestOnly();
  await scenario.proxy.held();
  await act(id);
  scenario.proxy.cut();
  scenario.proxy.holdAfter(Number.POSITIVE_INFINITY);
  return { path, id };
}

/** At most those bytes of the file arrive that were in flight at the intervention. */
function assertStopped({ proxy }: Scenario): void {
  const limit = HELD_AT + PART_BYTES + CHATTER_BYTES;
  assert.ok(proxy.sentBytes() <= limit, `${proxy.sentBytes()} bytes were sent`);
}

async function assertWhole(scenario: Scenario, path: string, id: string): Promise<void> {
  const { size } = await scenario.until("complete", id);
  const [object] = (await scenario.storedObjects()).filter(({ sizeBytes }) => sizeBytes === size);
  assert.equal(object!.sha256, await sha256Of(path));
}

test("a device that is disabled in mid-upload stops within one part, shows why, and continues once it is enabled", async (t) => {
  const scenario = await startScenario(t);
  const { admin } = scenario.cloud();
  const setEnabled = (enabled: boolean) => admin.call(api.devices.update, { nameOrId: scenario.deviceId, enabled });
  const { path, id } = await intervene(scenario, () => setEnabled(false));
  const status = await eventually(
    () => statusOf(scenario),
    ({ problems, transfers }) => problems.some(({ code }) => code === "DeviceDisabled") && transfers.length === 0,
  );
  assert.equal(status.files.requested, 1);
  assertStopped(scenario);
  await setEnabled(true);
  await assertWhole(scenario, path, id);
});

test("a token that is revoked in mid-upload stops it within one part, the problem is named, and the upload continues once the token is valid", async (t) => {
  const scenario = await startScenario(t);
  const { admin } = scenario.cloud();
  const [token] = await admin.call(api.deviceTokens.list, { deviceId: scenario.deviceId });
  const setEnabled = (enabled: boolean) => admin.call(api.deviceTokens.update, { id: token!.id, enabled });
  const { path, id } = await intervene(scenario, () => setEnabled(false));
  await eventually(
    () => statusOf(scenario),
    ({ problems }) => problems.some(({ code }) => code === "TokenRefused"),
  );
  assertStopped(scenario);
  await setEnabled(true);
  await assertWhole(scenario, path, id);
});

test("a request that is cancelled in mid-upload stops within one part; requested again, the file is uploaded whole", async (t) => {
  const scenario = await startScenario(t);
  const { admin } = scenario.cloud();
  const { path, id } = await intervene(scenario, (keyOrId) => admin.call(api.recordings.cancelImport, { keyOrId }));
  await eventually(
    () => statusOf(scenario),
    ({ transfers, files }) => transfers.length === 0 && files.reported === 1,
  );
  assertStopped(scenario);
  assert.equal((await scenario.recordings())[0]!.importStatus, "none");
  await admin.call(api.recordings.requestImport, { keyOrId: id });
  await assertWhole(scenario, path, id);
});
