import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api, type EdgeRecordingItem, type Recording } from "@downlink/protocol";
import { eventually, makeMcap, slowTest } from "@downlink/recordings/testing";
import { IngestError } from "../../imports/ingest/ingest-failure.ts";
import { quarantineImport } from "../../imports/ingest/ingest-outcomes.ts";
import { refusedWith } from "../../testing/refused-with.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { deliver, recordingItem, sha256, startAgent, type TestAgent } from "../../testing/test-agent.ts";

const SECOND = 1_000_000_000n;
const cloud = await startCloud({ after });
const { admin, deps } = cloud;
const { prisma } = deps.db;
let minute = 0n;

const recordingOf = (keyOrId: string) => admin.call(api.recordings.get, { keyOrId });
const rowOf = (id: string) => prisma.recording.findUniqueOrThrow({ where: { id } });

/** Makes a recording that no other test has. */
function anotherMcap() {
  minute += 60n;
  return makeMcap({ startNs: (1_760_000_000n + minute) * SECOND, durationSeconds: 1 });
}

async function recordingAt({ deviceId }: TestAgent, { path }: EdgeRecordingItem): Promise<Recording> {
  const [found] = await admin.call(api.recordings.list, { deviceId, path });
  return found!;
}

/** Reports a file and requests it; returns what its agent opens the upload with. */
async function ask(agent: TestAgent, item: EdgeRecordingItem) {
  await agent.report([item]);
  const { id } = await recordingAt(agent, item);
  await admin.call(api.recordings.requestImport, { keyOrId: id });
  const { requestId } = (await wanted(agent, item))!;
  const { versionId, size, modifiedAt } = item;
  return { id, requestId, open: { requestId, versionId, size, modifiedAt } };
}

async function wanted(agent: TestAgent, { versionId }: EdgeRecordingItem) {
  return (await agent.call(api.edge.work, {})).work.imports.find((request) => request.versionId === versionId);
}

function untilEnded(id: string): Promise<Recording> {
  return eventually(
    () => recordingOf(id),
    ({ importStatus }) => ["complete", "failed"].includes(importStatus),
  );
}

/** Creates a device with an imported recording, and returns what its agent reports of a copy of it. */
async function makeOriginal(name: string, key?: string) {
  const agent = await startAgent(cloud, name);
  const bytes = await anotherMcap();
  const item = recordingItem({ size: bytes.length, path: `${name}/first.mcap`, key });
  const { id } = await ask(agent, item);
  await deliver(agent, item, bytes);
  const { start, end } = await untilEnded(id);
  const { headTailSha256 } = item;
  const copyOf = (more: Partial<EdgeRecordingItem> = {}) =>
    recordingItem({ ...{ size: bytes.length, start, end, headTailSha256, path: `${name}/copy.mcap` }, ...more });
  await admin.call(api.devices.update, { nameOrId: agent.deviceId, autoDeleteAfterImport: true });
  return { agent, bytes, item, id, copyOf, hash: sha256(bytes) };
}

async function makeRejected(name: string) {
  const original = await makeOriginal(name);
  const copy = original.copyOf();
  const { id: copyId, requestId, open } = await ask(original.agent, copy);
  await assert.rejects(original.agent.call(api.edge.openUpload, { ...open, sha256: original.hash }));
  return { ...original, copy, copyId, requestId };
}

async function permit(agent: TestAgent, versionId: string, hash?: string) {
  const items = [{ versionId, sha256: hash, reason: "imported" as const }];
  const [answer] = (await agent.call(api.edge.askPermits, { items })).answers;
  return answer!.answer === "granted" ? "granted" : answer!.code;
}

test("content that is stored already is recognized before a byte is sent: the request fails, and names the recording", async () => {
  const { agent, id, item, copyOf, hash } = await makeOriginal("recognized");
  const copy = copyOf({ key: "another-key" });
  const { id: copyId, open } = await ask(agent, copy);
  const opened = await agent.call(api.edge.openUpload, open);
  assert.deepEqual([opened.wantsSha256, opened.isStored, opened.parts], [true, false, []]);
  await assert.rejects(
    agent.call(api.edge.openUpload, { ...open, sha256: hash }),
    refusedWith("RequestSuperseded", id),
  );
  const reason = {
    code: "DuplicateContent",
    text: `the same content was imported already as recording ${id} (${item.path})`,
  };
  const shown = await wanted(agent, copy);
  assert.deepEqual([shown?.stage, shown?.reason], ["failed", reason]);
  const row = await rowOf(copyId);
  assert.deepEqual([row.importStatus, row.failureText, row.duplicateOfId], ["failed", reason.text, id]);
  const uploads = await prisma.upload.findMany({ where: { requestId: open.requestId } });
  assert.deepEqual(
    uploads.map(({ state }) => state),
    ["abandoned"],
  );
  await assert.rejects(agent.call(api.edge.openUpload, { ...open, sha256: hash }), refusedWith("RequestSuperseded"));
});

slowTest(
  "the hash is requested only if size, span and the known hashes of head and tail agree with an imported recording of the device",
  async () => {
    const { agent, copyOf } = await makeOriginal("asked-for");
    const asks = async (copy: EdgeRecordingItem, by = agent) => {
      const { open } = await ask(by, copy);
      return (await by.call(api.edge.openUpload, open)).wantsSha256 === true;
    };
    const same = copyOf({ path: "same.mcap" });
    assert.equal(await asks(same), true);
    assert.equal(await asks(copyOf({ path: "a.mcap", size: same.size + 1 })), false);
    assert.equal(await asks(copyOf({ path: "b.mcap", end: same.end + 1n })), false);
    assert.equal(await asks(copyOf({ path: "c.mcap", headTailSha256: sha256("another head") })), false);
    assert.equal(await asks(copyOf(), await startAgent(cloud, "asked-elsewhere")), false);
  },
);

slowTest(
  "claiming the hash of another device's or organization's content reveals nothing: it is treated like any other",
  async () => {
    const { hash, copyOf, bytes } = await makeOriginal("owner");
    const theirs = { ...cloud, admin: await cloud.otherOrganization() };
    for (const where of [cloud, theirs]) {
      const stranger = await startAgent(where, "stranger");
      const answers = [];
      for (const claimed of [hash, sha256("content that nobody has")]) {
        const copy = copyOf({ path: `${claimed}.mcap` });
        await stranger.report([copy]);
        const [{ id }] = (await where.admin.call(api.recordings.list, { path: copy.path })) as [Recording];
        await where.admin.call(api.recordings.requestImport, { keyOrId: id });
        const { requestId } = (await wanted(stranger, copy))!;
        const { versionId, size, modifiedAt } = copy;
        const open = { requestId, versionId, size, modifiedAt, sha256: claimed };
        const { uploadId: _, ...answer } = await stranger.call(api.edge.openUpload, open);
        answers.push([answer, await permit(stranger, versionId, claimed)]);
        assert.equal((await where.admin.call(api.recordings.get, { keyOrId: id })).importStatus, "pending");
      }
      assert.deepEqual(answers[0], answers[1]);
      assert.ok(bytes.length > 0);
    }
  },
);

slowTest(
  "an agent that knows no hashes sends its copy, which is then rejected; its bytes do not stay, and after a retry the device is asked again",
  async () => {
    const { agent, bytes, id, copyOf } = await makeOriginal("older-agent");
    const copy = copyOf();
    const { id: copyId } = await ask(agent, copy);
    const requestId = await deliver(agent, copy, bytes);
    assert.equal((await untilEnded(copyId)).importStatus, "failed");
    const row = await rowOf(copyId);
    assert.deepEqual([row.failureCode, row.duplicateOfId], ["DuplicateContent", id]);
    const { blobKey } = await prisma.upload.findFirstOrThrow({ where: { requestId } });
    await eventually(
      () => deps.blobs.stat(blobKey),
      (object) => object === undefined,
    );
    assert.equal((await prisma.importRequest.findUniqueOrThrow({ where: { id: requestId } })).blobKey, null);
    await admin.call(api.pendingImports.retry, { requestId });
    assert.equal((await wanted(agent, copy))!.stage, "deliver");
  },
);

slowTest(
  "of two copies that are requested at the same moment one is imported, the other one names it, and only one object stays",
  async () => {
    const agent = await startAgent(cloud, "twins");
    const bytes = await anotherMcap();
    const items = ["one", "two"].map((path) => recordingItem({ size: bytes.length, path: `twins/${path}.mcap` }));
    const asked = [];
    for (const item of items) asked.push(await ask(agent, item));
    await Promise.all(items.map((item) => deliver(agent, item, bytes)));
    const ended = await Promise.all(asked.map(({ id }) => untilEnded(id)));
    assert.deepEqual(ended.map(({ importStatus }) => importStatus).sort(), ["complete", "failed"]);
    const [first, copy] = ended.sort((a, b) => (a.importStatus < b.importStatus ? -1 : 1));
    assert.equal((await rowOf(copy!.id)).duplicateOfId, first!.id);
    const uploads = await prisma.upload.findMany({
      where: { requestId: { in: asked.map(({ requestId }) => requestId) } },
    });
    await eventually(
      () => Promise.all(uploads.map(({ blobKey }) => deps.blobs.stat(blobKey))),
      (objects) => objects.filter((object) => object !== undefined).length === 1,
    );
  },
);

slowTest(
  "a rejected copy counts as stored: it may be deleted with its own hash, as long as the first one is imported",
  async () => {
    const { agent, copy, hash, id, copyId } = await makeRejected("counted");
    assert.equal(await permit(agent, copy.versionId), "HashDiffers");
    assert.equal(await permit(agent, copy.versionId, sha256("other bytes")), "HashDiffers");
    assert.equal(await permit(agent, copy.versionId, hash), "granted");
    await agent.report([], { deletions: [{ versionId: copy.versionId, because: "imported" }] });
    assert.equal((await recordingOf(id)).importStatus, "complete");
    assert.equal((await recordingOf(copyId)).importStatus, "failed");
    await admin.call(api.recordings.delete, { keyOrId: id });
    await assert.rejects(recordingOf(copyId), refusedWith("NotFound"), "nothing is left of it");
  },
);

slowTest(
  "once the data of the first is deleted, its copy is at the edge again, may not be deleted, and can be imported; the agent hears of it",
  async () => {
    const { agent, copy, hash, id, copyId, requestId, bytes } = await makeRejected("orphaned");
    await agent.report([], { acknowledgements: [requestId] });
    await admin.call(api.recordings.delete, { keyOrId: id });
    assert.equal((await recordingOf(copyId)).importStatus, "none");
    assert.equal(await permit(agent, copy.versionId, hash), "ImportNotComplete");
    const shown = (await wanted(agent, copy))!;
    assert.deepEqual([shown.stage, shown.isOver], ["failed", true]);
    await agent.report([], { acknowledgements: [shown.requestId] });
    assert.equal(await wanted(agent, copy), undefined);
    await admin.call(api.recordings.requestImport, { keyOrId: copyId });
    await deliver(agent, copy, bytes);
    assert.equal((await untilEnded(copyId)).importStatus, "complete");
  },
);

slowTest(
  "a permit for a copy and the deletion of the first at the same moment run one after the other, and end",
  async () => {
    for (let round = 0; round < 4; round++) {
      const { agent, copy, hash, id } = await makeRejected(`race-${round}`);
      const [answer] = await Promise.all([
        permit(agent, copy.versionId, hash),
        admin.call(api.recordings.delete, { keyOrId: id }),
      ]);
      assert.ok(["granted", "ImportNotComplete", "NotARecording"].includes(answer), answer);
    }
  },
);

slowTest("a recording of another device with the same key and content proves nothing for a deletion", async () => {
  const { bytes, id, copyOf, hash } = await makeOriginal("keyed", "one-key");
  const agent = await startAgent(cloud, "keyed-too");
  const copy = copyOf({ key: "one-key" });
  const { id: copyId } = await ask(agent, copy);
  await deliver(agent, copy, bytes);
  await untilEnded(copyId);
  const row = await rowOf(copyId);
  assert.deepEqual([row.failureCode, row.duplicateOfId], ["DuplicateContent", id]);
  assert.ok(!row.failureText!.includes("keyed/first.mcap"), "the text does not name a path of another device");
  await admin.call(api.devices.update, { nameOrId: agent.deviceId, autoDeleteAfterImport: true });
  assert.equal(await permit(agent, copy.versionId, hash), "ImportNotComplete");
});

test("no byte of a copy is deleted because of a first whose data is deleted at the same moment", async () => {
  const { agent, bytes, id, copyOf } = await makeOriginal("decided");
  const copy = copyOf();
  const { id: copyId } = await ask(agent, copy);
  const requestId = await deliver(agent, copy, bytes);
  await untilEnded(copyId);
  await admin.call(api.recordings.delete, { keyOrId: id });
  const request = await prisma.importRequest.update({
    where: { id: requestId },
    data: { state: "ready for indexing", blobKey: "kept/object" },
  });
  const failure = new IngestError("DuplicateContent", "it was imported already", id);
  assert.equal(await quarantineImport(deps, request, failure), false);
  assert.equal((await prisma.importRequest.findUniqueOrThrow({ where: { id: requestId } })).blobKey, "kept/object");
});
