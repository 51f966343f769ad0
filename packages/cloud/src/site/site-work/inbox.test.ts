import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api } from "@downlink/protocol";
import { makeMcap } from "@downlink/recordings/testing";
import { newId } from "../../db/ids.ts";
import { refusedWith } from "../../testing/refused-with.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { readFindings, startTestSite } from "./testing/test-site.ts";

const cloud = await startCloud({ after }, { works: false });
const { admin, deps } = cloud;
const { prisma } = deps.db;
const site = await startTestSite(cloud, "plant");
let second = 1_760_000_000n;

async function ask(requestId: string, { of = site, isNew = true } = {}) {
  const { files } = await of.call(api.site.inbox, { files: [{ requestId, filename: "lab/a.mcap", isNew }] });
  return files[0]!;
}

/** Brings a file of the inbox to the end of its import. */
async function importFile(metadata: Record<string, string>, of = site) {
  second += 60n;
  const records = [{ name: "downlink", metadata }];
  const bytes = await makeMcap({ startNs: second * 1_000_000_000n, durationSeconds: 1, metadata: records });
  const requestId = newId("req");
  assert.equal((await ask(requestId, { of })).state, "awaiting");
  await of.storeFile(requestId, bytes);
  for (const call of await readFindings(deps, { requestId, attempt: 1, bytes })) await of.call(api.site.findings, call);
  return { requestId, answer: await ask(requestId, { of, isNew: false }) };
}

test("a file of the inbox is imported under the id that the site drew, as the file itself says; repeats are harmless", async () => {
  const { requestId, answer } = await importFile({ deviceName: "robot", key: "lap-1" });
  assert.equal(answer.state, "complete");
  assert.equal((await ask(requestId)).state, "complete");
  const recording = await admin.call(api.recordings.get, { keyOrId: "lap-1" });
  assert.deepEqual([recording.path, recording.device?.name], ["lab/a.mcap", "robot"]);
});

test("a site that is for some projects imports into these alone, whatever a file says", async () => {
  const [mine, theirs] = [
    await admin.call(api.projects.create, { name: "mine" }),
    await admin.call(api.projects.create, { name: "theirs" }),
  ];
  const { answer: undecided } = await importFile({ deviceName: "robot" });
  assert.match(undecided.reason!, /^ProjectRequired: /);
  const other = await startTestSite(cloud, "for mine");
  await prisma.site.update({ where: { id: other.siteId }, data: { projectIds: [mine.id] } });
  const { requestId, answer } = await importFile({ deviceName: "robot" }, other);
  assert.equal(answer.state, "complete");
  const { recordingId } = await prisma.importRequest.findUniqueOrThrow({ where: { id: requestId } });
  assert.equal((await prisma.recording.findUniqueOrThrow({ where: { id: recordingId! } })).projectId, mine.id);
  const { answer: refused } = await importFile({ deviceName: "robot", projectId: theirs.id }, other);
  assert.match(refused.reason!, /^ProjectNotOfSite: /);
});

test("an id that another site has is unknown, and stays as it is", async () => {
  const foreign = await startTestSite(cloud, "foreign", await cloud.otherOrganization());
  const requestId = newId("req");
  await ask(requestId);
  assert.deepEqual(await ask(requestId, { of: foreign }), { requestId, state: "unknown" });
  assert.equal((await ask(requestId, { isNew: false })).state, "awaiting");
});

test("no request is made while it is not known what was deleted, nor for a file that was stored before", async () => {
  const requestId = newId("req");
  const recover = (recoveringSinceNs: bigint | null) =>
    prisma.deployment.update({ where: { id: 1 }, data: { recoveringSinceNs } });
  await recover(1n);
  try {
    await assert.rejects(ask(requestId), refusedWith("Unavailable"));
    assert.equal((await ask(requestId, { isNew: false })).state, "unknown");
  } finally {
    await recover(null);
  }
  assert.equal((await ask(requestId, { isNew: false })).state, "unknown");
});
