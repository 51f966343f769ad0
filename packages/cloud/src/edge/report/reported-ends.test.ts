import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api } from "@downlink/protocol";
import { eventually, makeMcap, slowTest } from "@downlink/recordings/testing";
import { startCloud } from "../../testing/start-cloud.ts";
import { askForFile, deliver, recordingItem, sayHello } from "../../testing/test-agent.ts";

const cloud = await startCloud({ after });
const { admin } = cloud;
let seed = 0;

/** Makes a file that is imported, before the agent hears of it. */
async function makeImported(name: string) {
  const bytes = await makeMcap({ seed: ++seed });
  const asked = await askForFile(cloud, name, recordingItem({ size: bytes.length }));
  await deliver(asked.agent, asked.item, bytes);
  await eventually(
    () => admin.call(api.recordings.get, { keyOrId: asked.recordingId }),
    ({ importStatus }) => importStatus === "complete",
  );
  const imports = async () => (await asked.agent.call(api.edge.work, {})).work.imports;
  const acknowledge = (requestId: string) => asked.agent.report([], { acknowledgements: [requestId] });
  return { ...asked, imports, acknowledge };
}

slowTest(
  "the agent hears that imported data was deleted until it acknowledges that, even if an earlier acknowledgement is still on its way",
  async () => {
    const { requestId, recordingId, imports, acknowledge } = await makeImported("deleted");
    await admin.call(api.recordings.delete, { keyOrId: recordingId });
    await acknowledge(requestId); // acknowledges the end that it saw before
    const [shown, ...others] = await imports();
    assert.deepEqual([shown!.stage, shown!.isOver, others], ["imported", true, []]);
    await acknowledge(shown!.requestId);
    assert.deepEqual(await imports(), []);
  },
);

test("data that was deleted after its end was acknowledged wakes the poll; if it is requested again, only the new request is listed", async () => {
  const { agent, requestId, recordingId, imports, acknowledge } = await makeImported("woken");
  await acknowledge(requestId);
  const { etag } = await agent.call(api.edge.work, {});
  const [answer] = await Promise.all([
    agent.call(api.edge.work, { etag, wait: 20 }),
    admin.call(api.recordings.delete, { keyOrId: recordingId }),
  ]);
  assert.equal(answer.work.imports[0]!.isOver, true);
  await admin.call(api.recordings.requestImport, { keyOrId: recordingId });
  const [request, ...others] = await imports();
  assert.deepEqual([request!.stage, request!.isOver, others], ["deliver", undefined, []]);
});

test("a failure that is taken back is listed, also under the version id that an agent without its state gave the file since", async () => {
  const { agent, item, requestId, recordingId } = await askForFile(cloud, "taken-back");
  const failure = { requestId, versionId: item.versionId, code: "FileUnreadable", text: "EIO" } as const;
  await agent.call(api.edge.failImport, failure);
  await agent.report([], { acknowledgements: [requestId] });
  const again = await sayHello(cloud, { ...agent, lease: agent.hello.lease });
  const renamed = { ...item, versionId: recordingItem().versionId };
  const listing = { id: "listing-1", isLast: true, count: 1 };
  const { failed, imported } = await again.report([renamed], { listing });
  assert.deepEqual(failed, [{ versionId: renamed.versionId, code: "FileUnreadable", text: "EIO" }]);
  assert.deepEqual(imported, []);
  await admin.call(api.recordings.delete, { keyOrId: recordingId });
  const [shown] = (await again.call(api.edge.work, {})).work.imports;
  assert.deepEqual([shown!.stage, shown!.isOver, shown!.versionId], ["failed", true, renamed.versionId]);
});
