// These tests set the database or the object store of the real programs back. Complete recordings must be complete again, with the same id
// and bytes; unfinished uploads must continue; deleted recordings must stay deleted; and no device may delete anything meanwhile.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import { copyStore, restoreDatabase } from "@downlink/cloud/testing";
import { api, type Recording } from "@downlink/protocol";
import { PART_BYTES, writeLargeFile } from "./processes/large-file.ts";
import { sha256Of, startScenario } from "./processes/scenario.ts";
import {
  assertSame,
  backUp,
  find,
  importFile,
  incarnationOf,
  patiently,
  recovered,
  untilLostAtEdge,
  writeFiles,
} from "./restores/set-back.ts";

const MIB = 1024 * 1024;

async function beneathRunning(t: TestContext): Promise<void> {
  const scenario = await startScenario(t);
  const { admin } = scenario.cloud();
  await admin.call(api.devices.update, { nameOrId: scenario.deviceId, autoDeleteAfterImport: true });
  await writeFiles(scenario, "early.mcap");
  scenario.startAgent();
  const early = await importFile(scenario, "early.mcap");
  const backup = await backUp(t, scenario);
  await writeFiles(scenario, "late.mcap", "removed.mcap");
  const late = await importFile(scenario, "late.mcap");
  const removed = await importFile(scenario, "removed.mcap");
  await admin.call(api.recordings.delete, { keyOrId: removed.id });
  const large = await writeLargeFile(scenario);
  scenario.proxy.holdAfter(scenario.proxy.sentBytes() + 50 * MIB);
  const asked = find(
    await patiently(scenario.recordings, (all) => find(all, "large.mcap") !== undefined),
    "large.mcap",
  )!;
  await admin.call(api.recordings.requestImport, { keyOrId: asked.id });
  await scenario.proxy.held();
  const sentBefore = scenario.proxy.sentBytes();
  const incarnation = await incarnationOf(scenario);

  await restoreDatabase(scenario.databaseUrl!, backup);
  scenario.proxy.cut();
  scenario.proxy.holdAfter(Number.POSITIVE_INFINITY);
  await recovered(scenario, incarnation);
  await assertSame(scenario, [early, late]);
  const whole = (all: Recording[]) => find(all, "large.mcap")?.importStatus === "complete";
  const again = find(await patiently(scenario.recordings, whole), "large.mcap")!;
  assert.equal(again.id, asked.id);
  const objects = (await scenario.storedObjects()).filter(({ sizeBytes }) => sizeBytes === again.size);
  assert.deepEqual(objects, [{ sizeBytes: again.size, sha256: await sha256Of(large) }]);
  const sentAfter = scenario.proxy.sentBytes() - sentBefore;
  assert.ok(sentAfter <= again.size - 50 * MIB + 4 * PART_BYTES, `${sentAfter} bytes were sent again`);
  assert.ok(existsSync(large), "a device deletes nothing by itself for a day after a restore");
}

async function whileStopped(t: TestContext): Promise<void> {
  const scenario = await startScenario(t);
  const backup = await backUp(t, scenario);
  await writeFiles(scenario, "a.mcap", "b.mcap", "c.mcap");
  scenario.startAgent();
  const imported = [await importFile(scenario, "a.mcap"), await importFile(scenario, "b.mcap")];
  const incarnation = await incarnationOf(scenario);
  await rm(join(scenario.storageRoot, "a.mcap")); // now only the cloud has this file

  await scenario.killCloud();
  await restoreDatabase(scenario.databaseUrl!, backup);
  await scenario.restartCloud();
  await recovered(scenario, incarnation);
  await assertSame(scenario, imported);
  await importFile(scenario, "c.mcap");
}

async function storeAlone(t: TestContext): Promise<void> {
  const scenario = await startScenario(t);
  await writeFiles(scenario, "kept.mcap", "there.mcap", "gone.mcap");
  scenario.startAgent();
  const kept = await importFile(scenario, "kept.mcap");
  const setStoreBack = await copyStore(scenario.dataDir);
  await scenario.killCloud();
  await scenario.restartCloud(); // each start writes a mark, as a round does each minute
  const there = await importFile(scenario, "there.mcap");
  const gone = await importFile(scenario, "gone.mcap");
  await rm(join(scenario.storageRoot, "gone.mcap"));
  await untilLostAtEdge(scenario, "gone.mcap");
  const incarnation = await incarnationOf(scenario);

  await scenario.killCloud();
  await setStoreBack();
  await scenario.restartCloud();
  await recovered(scenario, incarnation);
  await assertSame(scenario, [kept, there]);
  const lost = find(
    await patiently(scenario.recordings, (all) => find(all, "gone.mcap")?.importStatus !== "complete"),
    "gone.mcap",
  )!;
  assert.equal(lost.id, gone.id);
  assert.equal(lost.failure?.code, "ObjectMissing");
}

// These tests wait for most of their time, so that they can run together.
describe("restores", { concurrency: true }, () => {
  test("the database is set back while the control plane runs and devices import and delete", beneathRunning);
  test("the database is set back to before the first import while the control plane is stopped", whileStopped);
  test(
    "the object store alone is set back: a missing object is fetched again from its device, or its recording says that it is missing",
    storeAlone,
  );
});
