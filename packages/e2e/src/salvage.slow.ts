import assert from "node:assert/strict";
import { readdir, stat, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { api, type EdgeFile } from "@downlink/protocol";
import { eventually, makeMcap, readIndexedMessages, readMessages, writeMcapFile } from "@downlink/recordings/testing";
import { request } from "undici";
import { type Scenario, startScenario } from "./processes/scenario.ts";

async function onlyIncomplete(scenario: Scenario): Promise<EdgeFile> {
  const files = await eventually(
    () => scenario.cloud().admin.call(api.edgeFiles.list, {}),
    (all) => all.length === 1 && all[0]!.state === "incomplete",
  );
  return files[0]!;
}

async function exportOf({ cloud }: Scenario, recordingId: string): Promise<Uint8Array> {
  const { link } = await cloud().admin.call(api.exports.create, { recordingId });
  const { body } = await request(link);
  return new Uint8Array(await body.arrayBuffer());
}

test("what is readable of a cut recording is salvaged on request, imported, and exported message for message", async (t) => {
  const scenario = await startScenario(t);
  const whole = await makeMcap({ chunkBytes: 20_000 });
  await writeFile(join(scenario.storageRoot, "cut.mcap"), whole.slice(0, whole.byteLength * 0.6));
  scenario.startAgent();
  const file = await onlyIncomplete(scenario);
  await scenario.cloud().admin.call(api.edgeFiles.salvage, { id: file.id });
  const recording = await scenario.until("complete");
  assert.deepEqual({ start: recording.start, end: recording.end }, file.salvage);
  assert.equal(recording.metadata?.at(-1)?.metadata.path, "cut.mcap");
  assert.equal(recording.device?.id, scenario.deviceId);
  const { salvageRequest } = await onlyIncomplete(scenario);
  assert.deepEqual([salvageRequest?.state, salvageRequest?.recordingId], ["made", recording.id]);

  const toText = ({ topic, logTimeNs, data }: { topic: string; logTimeNs: bigint; data: Uint8Array }) =>
    `${topic} ${logTimeNs} ${Buffer.from(data).toString("base64")}`;
  const originals = new Set(readMessages(whole).map(toText));
  const exported = await readIndexedMessages(await exportOf(scenario, recording.id));
  assert.ok(exported.length > originals.size / 3 && exported.length < originals.size);
  assert.ok(exported.every((message) => originals.has(toText(message))));
});

/** Finds salvages that are being written. */
async function partials({ storageRoot }: Scenario): Promise<string[]> {
  const names = await readdir(storageRoot, { recursive: true });
  return names.filter((name) => name.endsWith(".partial"));
}

test("an agent that is killed while it salvages leaves nothing that counts, and makes the salvage once after its next start", async (t) => {
  const scenario = await startScenario(t);
  const topics = [{ topic: "/blob", kind: "blob" as const, rateHz: 20, sizeBytes: 500_000 }];
  const path = join(scenario.storageRoot, "cut.mcap");
  await writeMcapFile(path, { topics, durationSeconds: 20, compression: "" });
  await truncate(path, (await stat(path)).size - 1000);
  scenario.startAgent();
  const { id } = await onlyIncomplete(scenario);
  await scenario.cloud().admin.call(api.edgeFiles.salvage, { id });
  await eventually(
    () => partials(scenario),
    (found) => found.length === 1,
  );
  await scenario.agent().end("SIGKILL");
  assert.equal((await partials(scenario)).length, 1, "it was killed in the middle");
  scenario.startAgent();
  const recording = await scenario.until("complete");
  assert.deepEqual(
    (await scenario.recordings()).map((one) => one.id),
    [recording.id],
  );
  assert.deepEqual(await partials(scenario), []);
});
