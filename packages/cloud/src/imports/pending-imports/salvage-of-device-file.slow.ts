import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api } from "@downlink/protocol";
import { eventually, makeMcap, readIndexedMessages } from "@downlink/recordings/testing";
import { startCloud } from "../../testing/start-cloud.ts";
import { askForFile, deliver, recordingItem } from "../../testing/test-agent.ts";

const cloud = await startCloud({ after });
const { admin } = cloud;
const end = (requestId: string) =>
  eventually(
    () => admin.call(api.pendingImports.get, { requestId }),
    ({ status }) => status === "error" || status === "complete",
  );

test("a device's file that only its import finds damaged is salvaged from its stored bytes, into the device's session", async () => {
  const whole = await makeMcap({ chunkBytes: 20_000 });
  const damaged = whole.slice();
  damaged.fill(0xff, damaged.length / 2, damaged.length / 2 + 64); // the device judges by the ends, which are as they were
  const item = recordingItem({ path: "runs/drive.mcap", size: damaged.length });
  const { agent, recordingId } = await askForFile(cloud, "robot", item);
  const { id: sessionId } = await admin.call(api.sessions.create, { recordingIds: [recordingId] });
  const requestId = await deliver(agent, item, damaged);
  const failed = await end(requestId);
  assert.equal(failed.status, "error");

  const { requestId: salvageId } = await admin.call(api.pendingImports.salvage, { requestId });
  const made = await end(salvageId);
  assert.deepEqual([made.status, made.error], ["complete", undefined]);
  const recording = await admin.call(api.recordings.get, { keyOrId: made.recordingId! });
  assert.deepEqual(
    [recording.path, recording.device?.id, recording.sessionId],
    ["runs/drive.salvage.mcap", agent.deviceId, sessionId],
  );
  const { link, damage } = await admin.call(api.exports.create, { recordingId: recording.id });
  assert.deepEqual(damage, recording.damage);
  assert.ok(damage!.chunksLost > 0 && damage!.bytesLost > 0 && damage!.reasons.length > 0, JSON.stringify(damage));
  const kept = await readIndexedMessages(await (await fetch(link)).bytes());
  const all = await readIndexedMessages(whole);
  assert.ok(kept.length > all.length / 2 && kept.length < all.length, `${kept.length} of ${all.length}`);
  const failedStill = await admin.call(api.recordings.get, { keyOrId: recordingId });
  assert.equal(failedStill.importStatus, "failed");
});
