import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api, type EdgeOtherItem, type EdgeRecordingItem, SALVAGE_RECORD_NAME } from "@downlink/protocol";
import { refusedWith } from "../../testing/refused-with.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { brokenItem, deliver, recordingItem, sha256, startAgent, type TestAgent } from "../../testing/test-agent.ts";

const cloud = await startCloud({ after }, { works: false });
const { admin } = cloud;
const span = { start: 1_000_000_000_000n, end: 1_010_000_000_000n };

function cutFile(more: Partial<EdgeOtherItem> = {}): EdgeOtherItem {
  return brokenItem({ state: "incomplete", reason: { code: "NoEnd", text: "it has no end" }, salvage: span, ...more });
}

/** Returns what an agent reports of a salvage that it made. */
function salvageOf(file: EdgeOtherItem, more: Partial<EdgeRecordingItem> = {}): EdgeRecordingItem {
  const { versionId, path, size, modifiedAt } = file;
  const metadata = { versionId, path, sizeBytes: `${size}`, modifiedAtNs: `${modifiedAt}`, lostBytes: "7" };
  return recordingItem({
    path: `.downlink-salvage/x/${path}`,
    metadata: [{ name: SALVAGE_RECORD_NAME, metadata }],
    ...more,
  });
}

const fileOf = async ({ deviceId }: TestAgent) => (await admin.call(api.edgeFiles.list, { deviceId }))[0]!;
const recordingsOf = ({ deviceId }: TestAgent) => admin.call(api.recordings.list, { deviceId });
const workOf = async (agent: TestAgent) => (await agent.call(api.edge.work, {})).work;

async function askFor(agent: TestAgent, priority = 0) {
  return admin.call(api.edgeFiles.salvage, { id: (await fileOf(agent)).id, priority });
}

test("a requested salvage is in the agent's work until it is reported; then its recording is imported", async () => {
  const agent = await startAgent(cloud, "salvager");
  const file = cutFile();
  await agent.report([file]);
  const asked = await askFor(agent, 5);
  assert.deepEqual([asked.path, asked.salvageRequest?.state], [file.path, "requested"]);
  const { salvages } = await workOf(agent);
  assert.deepEqual(
    salvages.map(({ versionId }) => versionId),
    [file.versionId],
  );

  const bytes = Buffer.from("salvaged");
  const salvage = salvageOf(file, { size: bytes.byteLength });
  await agent.report([salvage]);
  await agent.report([salvage]);
  const work = await workOf(agent);
  assert.deepEqual(
    [work.salvages, work.imports.map(({ versionId, priority }) => [versionId, priority])],
    [[], [[salvage.versionId, 5]]],
  );
  const [recording, ...others] = await recordingsOf(agent);
  assert.deepEqual([recording!.path, recording!.importStatus, others], [salvage.path, "pending", []]);
  const { salvageRequest } = await fileOf(agent);
  assert.deepEqual([salvageRequest?.state, salvageRequest?.recordingId], ["made", recording!.id]);
  await deliver(agent, salvage, bytes);
  assert.equal((await recordingsOf(agent))[0]!.importStatus, "importing");
});

test("asking again changes nothing while it is under way, and asks for the recording again once it is made", async () => {
  const agent = await startAgent(cloud, "insistent");
  const file = cutFile();
  await agent.report([file]);
  await askFor(agent);
  const [before] = (await workOf(agent)).salvages;
  await askFor(agent);
  assert.deepEqual((await workOf(agent)).salvages, [before]);
  const salvage = salvageOf(file);
  await agent.report([salvage]);
  const [recording] = await recordingsOf(agent);
  await admin.call(api.recordings.cancelImport, { keyOrId: recording!.id });
  await agent.report([salvage]);
  assert.equal((await recordingsOf(agent))[0]!.importStatus, "none", "what somebody cancelled stays so");
  await askFor(agent);
  assert.equal((await recordingsOf(agent))[0]!.importStatus, "pending");
});

test("a salvage that is gone from the device before it was delivered is made again when somebody asks again", async () => {
  const agent = await startAgent(cloud, "tidy");
  const file = cutFile();
  await agent.report([file]);
  await askFor(agent);
  const salvage = salvageOf(file);
  await agent.report([salvage]);
  await agent.report([], { removals: [salvage.versionId] });
  assert.equal((await recordingsOf(agent))[0]!.importStatus, "failed");
  await askFor(agent);
  assert.equal((await workOf(agent)).salvages.length, 1);
});

test("only an incomplete or damaged file of which something can be read is salvaged: every other one is 409", async () => {
  const agent = await startAgent(cloud, "particular");
  for (const item of [
    brokenItem({ state: "settling" }),
    brokenItem({ state: "unreadable" }),
    cutFile({ salvage: undefined }),
  ]) {
    await agent.report([item]);
    await assert.rejects(askFor(agent), refusedWith("Conflict"));
    await agent.report([], { removals: [item.versionId] });
  }
});

test("an agent that cannot salvage says why; the reason is shown, and the salvage may be requested again", async () => {
  const agent = await startAgent(cloud, "unable");
  const file = cutFile();
  await agent.report([file]);
  await askFor(agent);
  const [wanted] = (await workOf(agent)).salvages;
  const reason = { code: "NoSpace", text: "3 MB are needed" } as const;
  await agent.call(api.edge.failSalvage, { ...wanted!, ...reason });
  const { salvageRequest } = await fileOf(agent);
  assert.deepEqual([salvageRequest?.state, salvageRequest?.reason], ["failed", reason]);
  await assert.rejects(agent.call(api.edge.failSalvage, { ...wanted!, ...reason }), refusedWith("RequestSuperseded"));
  assert.deepEqual((await workOf(agent)).salvages, []);
  await askFor(agent);
  assert.equal((await workOf(agent)).salvages.length, 1);
});

test("a file that changes or goes takes the request for its salvage out of the work", async () => {
  const agent = await startAgent(cloud, "changing");
  const file = cutFile();
  await agent.report([file]);
  await askFor(agent);
  await agent.report([], { removals: [file.versionId] });
  assert.deepEqual((await workOf(agent)).salvages, []);
});

test("a file that is finished before its salvage was delivered is imported in place of the salvage", async () => {
  for (const isMade of [false, true]) {
    const agent = await startAgent(cloud, `finisher-${isMade}`);
    const file = cutFile();
    await agent.report([file]);
    await askFor(agent, 3);
    if (isMade) await agent.report([salvageOf(file)]);
    await agent.report([], { removals: [file.versionId] });
    const finished = recordingItem({ path: file.path, ...span });
    await agent.report([finished]);
    const { imports, salvages } = await workOf(agent);
    assert.deepEqual(
      imports.map(({ versionId, priority }) => [versionId, priority]),
      [[finished.versionId, 3]],
    );
    assert.deepEqual(salvages, []);
  }
});

test("another recording that is written under the same name does not stand for the salvage", async () => {
  const agent = await startAgent(cloud, "rewriter");
  const file = cutFile();
  await agent.report([file]);
  await askFor(agent);
  await agent.report([salvageOf(file)]);
  await agent.report([], { removals: [file.versionId] });
  const next = recordingItem({ path: file.path, start: span.end });
  await agent.report([next]);
  const states = (await recordingsOf(agent)).map(({ path, importStatus }) => [path, importStatus]).sort();
  assert.deepEqual(
    states,
    [
      [`.downlink-salvage/x/${file.path}`, "pending"],
      [file.path, "none"],
    ].sort(),
  );
});

test("after an agent that lost its state named the file again, its salvage is still wanted, or is known if it was made", async () => {
  for (const isMade of [false, true]) {
    const agent = await startAgent(cloud, `forgetful-${isMade}`);
    const file = cutFile();
    await agent.report([file]);
    await askFor(agent);
    const renamed = { ...file, versionId: sha256(file.versionId).slice(0, 24) };
    await agent.report(isMade ? [renamed, salvageOf(file)] : [renamed]);
    const { salvages, imports } = await workOf(agent);
    if (isMade) assert.deepEqual([salvages.length, imports.length], [0, 1]);
    else
      assert.deepEqual(
        salvages.map(({ versionId }) => versionId),
        [renamed.versionId],
      );
  }
});

test("another organization's file is 404, and so is a file of a project outside of the key's projects", async () => {
  const agent = await startAgent(cloud, "private");
  await agent.report([cutFile()]);
  const { id } = await fileOf(agent);
  const other = await cloud.otherOrganization();
  await assert.rejects(other.call(api.edgeFiles.salvage, { id }), refusedWith("NotFound"));
  const project = await admin.call(api.projects.create, { name: "not this one" });
  const limited = cloud.withToken(await cloud.addKey(["data.upload"], [project.id]));
  await assert.rejects(limited.call(api.edgeFiles.salvage, { id }), refusedWith("NotFound"));
  const stranger = await startAgent({ ...cloud, admin: other }, "stranger");
  await askFor(agent);
  const [wanted] = (await workOf(agent)).salvages;
  const failing = stranger.call(api.edge.failSalvage, { ...wanted!, code: "NothingReadable", text: "" });
  await assert.rejects(failing, refusedWith("NotFound"));
});
