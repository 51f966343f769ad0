import assert from "node:assert/strict";
import { appendFile, mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { api } from "@downlink/protocol";
import { eventually, makeMcap, writeMcapFile } from "@downlink/recordings/testing";
import { type Scenario, sha256Of, startScenario } from "./processes/scenario.ts";

const MIB = 1024 * 1024;
const blobs = [{ topic: "/blob", kind: "blob" as const, rateHz: 10, sizeBytes: 800_000 }];

async function writeLarge(path: string, startNs = 1_760_000_000_000_000_000n): Promise<void> {
  await writeMcapFile(path, { topics: blobs, durationSeconds: 6, compression: "", startNs });
}

/** Brings an upload to its middle and leaves it there. */
async function uploadHalf(scenario: Scenario, path: string): Promise<string> {
  await writeLarge(path);
  scenario.startAgent();
  scenario.proxy.holdAfter(20 * MIB);
  const id = await scenario.requestOnly();
  await scenario.proxy.held();
  return id;
}

test("a recording that is deleted before anybody requested it disappears from the cloud", async (t) => {
  const scenario = await startScenario(t);
  const path = join(scenario.storageRoot, "a.mcap");
  await writeFile(path, await makeMcap());
  scenario.startAgent();
  await eventually(scenario.recordings, (all) => all.length === 1);
  await rm(path);
  await eventually(scenario.recordings, (all) => all.length === 0);
});

test("a requested recording that is deleted before its upload begins fails with the reason", async (t) => {
  const scenario = await startScenario(t);
  const path = join(scenario.storageRoot, "a.mcap");
  await writeFile(path, await makeMcap());
  scenario.startAgent();
  await eventually(scenario.recordings, (all) => all.length === 1);
  await scenario.agent().end("SIGTERM");
  const id = await scenario.requestOnly();
  await rm(path);
  scenario.startAgent();
  await scenario.until("failed", id);
});

test("a recording that is deleted during its upload fails with the reason, and is never stuck", async (t) => {
  const scenario = await startScenario(t);
  const path = join(scenario.storageRoot, "a.mcap");
  const id = await uploadHalf(scenario, path);
  await rm(path);
  scenario.proxy.holdAfter(Number.POSITIVE_INFINITY);
  await scenario.until("failed", id);
  assert.deepEqual(
    await scenario.storedObjects().then((all) => all.filter(({ sizeBytes }) => sizeBytes > 40 * MIB)),
    [],
  );
});

test("a recording that is replaced during its upload is never mixed: the old one fails, the new one is another recording", async (t) => {
  const scenario = await startScenario(t);
  const path = join(scenario.storageRoot, "a.mcap");
  const id = await uploadHalf(scenario, path);
  await mkdir(join(scenario.storageRoot, "tmp"));
  const replacement = join(scenario.storageRoot, "tmp", "b.part");
  await writeLarge(replacement, 1_770_000_000_000_000_000n);
  await rename(replacement, path);
  scenario.proxy.holdAfter(Number.POSITIVE_INFINITY);
  await scenario.until("failed", id);
  const [fresh] = await eventually(
    async () => (await scenario.recordings()).filter((one) => one.id !== id),
    (others) => others.length === 1,
  );
  await scenario.cloud().admin.call(api.recordings.requestImport, { keyOrId: fresh!.id });
  await scenario.until("complete", fresh!.id);
  const whole = (await scenario.storedObjects()).map(({ sha256 }) => sha256);
  assert.ok(whole.includes(await sha256Of(path)));
});

test("a file that grows before it is requested is another version, and only the grown one is listed", async (t) => {
  const scenario = await startScenario(t);
  const path = join(scenario.storageRoot, "a.mcap");
  await writeFile(path, await makeMcap({ durationSeconds: 1 }));
  scenario.startAgent();
  const [first] = await eventually(scenario.recordings, (all) => all.length === 1);
  await writeFile(path, await makeMcap({ durationSeconds: 4 }));
  const [second] = await eventually(scenario.recordings, (all) => all.length === 1 && all[0]!.id !== first!.id);
  assert.ok(second!.size > first!.size);
});

test("a recording that is renamed stays the same recording, and its import goes on under the new name", async (t) => {
  const scenario = await startScenario(t);
  await writeFile(join(scenario.storageRoot, "a.mcap"), await makeMcap());
  scenario.startAgent();
  const [before] = await eventually(scenario.recordings, (all) => all.length === 1);
  await rename(join(scenario.storageRoot, "a.mcap"), join(scenario.storageRoot, "b.mcap"));
  const [renamed] = await eventually(scenario.recordings, (all) => all[0]?.path === "b.mcap");
  assert.equal(renamed!.id, before!.id);
  await scenario.cloud().admin.call(api.recordings.requestImport, { keyOrId: before!.id });
  await scenario.until("complete", before!.id);
});

test("a file still being written is listed as settling, and becomes a recording when it is finished", async (t) => {
  const scenario = await startScenario(t, { agentEnv: { DOWNLINK_INCOMPLETE_AFTER: "10min" } });
  const bytes = await makeMcap();
  const path = join(scenario.storageRoot, "a.mcap");
  await writeFile(path, bytes.slice(0, 10_000));
  scenario.startAgent();
  await eventually(
    () => scenario.cloud().admin.call(api.edgeFiles.list, { state: ["settling"] }),
    (all) => all.length === 1,
  );
  await appendFile(path, bytes.slice(10_000));
  await eventually(scenario.recordings, (all) => all.length === 1);
  assert.deepEqual(await scenario.cloud().admin.call(api.edgeFiles.list, {}), []);
});
