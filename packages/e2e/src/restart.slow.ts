import assert from "node:assert/strict";
import { test } from "node:test";
import { PART_BYTES, writeLargeFile } from "./processes/large-file.ts";
import { type Scenario, sha256Of, startScenario } from "./processes/scenario.ts";

const MIB = 1024 * 1024;
const PARTS_IN_FLIGHT = 3;
/** The bytes of reports, polls and headers beside the file's own. */
const CHATTER_BYTES = 2 * MIB;

async function assertWhole(scenario: Scenario, path: string, id: string): Promise<void> {
  const { size } = await scenario.until("complete", id);
  const objects = (await scenario.storedObjects()).filter(({ sizeBytes }) => sizeBytes === size);
  assert.deepEqual(objects, [{ sizeBytes: size, sha256: await sha256Of(path) }]);
  const limit = size + PARTS_IN_FLIGHT * PART_BYTES + CHATTER_BYTES;
  assert.ok(scenario.proxy.sentBytes() <= limit, `${scenario.proxy.sentBytes()} bytes were sent for a file of ${size}`);
}

/** Brings an upload to its middle, interrupts it there, and follows it to its end. */
async function interrupt(scenario: Scenario, act: () => Promise<void>): Promise<void> {
  const path = await writeLargeFile(scenario);
  scenario.startAgent();
  scenario.proxy.holdAfter(50 * MIB);
  const id = await scenario.requestOnly();
  await scenario.proxy.held();
  await act();
  await assertWhole(scenario, path, id);
}

function restoreLink({ proxy }: Scenario): void {
  proxy.cut();
  proxy.holdAfter(Number.POSITIVE_INFINITY);
}

test("an agent that is killed in mid-upload resumes: at most the parts in flight are sent again", async (t) => {
  const scenario = await startScenario(t);
  await interrupt(scenario, async () => {
    await scenario.agent().end("SIGKILL");
    restoreLink(scenario);
    scenario.startAgent();
  });
});

test("a control plane that is killed in mid-upload comes back, and the upload continues where it was", async (t) => {
  const scenario = await startScenario(t, { hasOwnPostgres: true });
  await interrupt(scenario, async () => {
    await scenario.killCloud();
    restoreLink(scenario);
    await scenario.restartCloud();
  });
});

test("a link that is cut in mid-upload costs at most the parts in flight", async (t) => {
  const scenario = await startScenario(t);
  await interrupt(scenario, async () => restoreLink(scenario));
});

test("SIGTERM in mid-upload ends the agent with code 0, and the next start resumes", async (t) => {
  const scenario = await startScenario(t);
  await interrupt(scenario, async () => {
    assert.equal(await scenario.agent().end("SIGTERM"), 0);
    restoreLink(scenario);
    scenario.startAgent();
  });
});
