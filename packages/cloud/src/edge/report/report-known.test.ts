import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api, type EdgeItem } from "@downlink/protocol";
import { untilLockWaits } from "../../testing/lock-waits.ts";
import { refusedWith } from "../../testing/refused-with.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { brokenItem, recordingItem, sha256, startAgent, type TestAgent } from "../../testing/test-agent.ts";
import { fileColumns } from "./edge-rows.ts";

const cloud = await startCloud({ after }, { works: false });
const { admin } = cloud;
const { prisma } = cloud.deps.db;

const fileOf = async ({ deviceId }: TestAgent, { versionId }: EdgeItem) =>
  prisma.edgeFile.findFirstOrThrow({ where: { deviceId, versionId } });

const span = { start: 1n, end: 9n };
const broken = brokenItem({ salvage: span });
const whole = recordingItem();
const reason = { code: "BadChunk", text: "chunk at 8 is broken" };
/** Each differs in one thing from what was reported of that file before. */
const changes: Readonly<Record<string, EdgeItem>> = {
  path: { ...whole, path: "elsewhere.mcap" },
  size: { ...whole, size: 1001 },
  time: { ...whole, modifiedAt: whole.modifiedAt + 1n },
  hash: { ...whole, headTailSha256: sha256("else") },
  "state of a recording": { ...broken, versionId: whole.versionId, state: "unreadable" },
  "state of another file": { ...broken, state: "incomplete" },
  "code of the reason": { ...broken, reason: { ...reason, code: "Truncated" } },
  "text of the reason": { ...broken, reason: { ...reason, text: "chunk at 9 is broken" } },
  "lack of a reason": { ...broken, reason: undefined },
  "start of a salvage": { ...broken, salvage: { ...span, start: 2n } },
  "end of a salvage": { ...broken, salvage: { ...span, end: 8n } },
  "lack of a salvage": { ...broken, salvage: undefined },
};

for (const [what, changed] of Object.entries(changes))
  test(`a report that changes one file among known ones stores the change: ${what}`, async () => {
    const agent = await startAgent(cloud, `changed-${what.replaceAll(" ", "-")}`);
    const others = [recordingItem(), brokenItem()];
    const known = [others[0]!, whole, broken, others[1]!];
    await agent.report(known);
    await agent.report(known.map((item) => (item.versionId === changed.versionId ? changed : item)));
    const stored = await fileOf(agent, changed);
    for (const [column, value = null] of Object.entries(fileColumns(changed)))
      assert.equal(`${stored[column as keyof typeof stored]}`, `${value}`, column);
    for (const other of others) assert.equal((await fileOf(agent, other)).path, other.path);
  });

test("a new file among known ones is stored, and a known one without its recording gets one", async () => {
  const agent = await startAgent(cloud, "one-more");
  const items = [recordingItem(), recordingItem()];
  await agent.report(items);
  await prisma.recording.delete({ where: { id: (await fileOf(agent, items[1]!)).recordingId! } });
  const fresh = recordingItem();
  await agent.report([...items, fresh]);
  const paths = (await admin.call(api.recordings.list, { deviceId: agent.deviceId })).map(({ path }) => path);
  assert.deepEqual(paths.sort(), [...items, fresh].map(({ path }) => path).sort());
});

test("a known file that belongs to another project than its device moves to the device's project", async () => {
  const agent = await startAgent(cloud, "moved");
  const item = brokenItem();
  await agent.report([item]);
  const { id, projectId } = await fileOf(agent, item);
  await prisma.edgeFile.update({ where: { id }, data: { projectId: null } });
  await agent.report([item]);
  assert.equal((await fileOf(agent, item)).projectId, projectId);
});

test("a known recording takes the place of a salvage that was requested since", async () => {
  const agent = await startAgent(cloud, "finished");
  const item = recordingItem();
  await agent.report([item]);
  const { agentId, orgId } = await fileOf(agent, item);
  const asked = { id: "svg_finished", orgId, agentId, state: "requested", versionId: "an-earlier-version" } as const;
  const facts = { path: item.path, sizeBytes: 9, modifiedAtNs: 9, startNs: item.start, createdAtNs: 9, updatedAtNs: 9 };
  await prisma.salvageRequest.create({ data: { ...asked, ...facts } });
  await agent.report([item]);
  assert.equal((await prisma.salvageRequest.findUniqueOrThrow({ where: { id: asked.id } })).state, "superseded");
});

test("a report of known files renews the lease and has its place in the order of reports", async () => {
  const agent = await startAgent(cloud, "ordered");
  const upserts = [recordingItem()];
  await agent.call(api.edge.report, { sequence: 1, upserts });
  const where = { deviceId: agent.deviceId };
  await prisma.agent.update({ where, data: { leaseExpiresAtNs: 0, lastSeenAtNs: 0, isOnline: false } });
  await agent.call(api.edge.report, { sequence: 3, upserts });
  const { leaseExpiresAtNs, lastSeenAtNs, isOnline, reportSequence } = await prisma.agent.findUniqueOrThrow({ where });
  assert.deepEqual(
    [leaseExpiresAtNs > lastSeenAtNs, lastSeenAtNs > 0n, isOnline, reportSequence],
    [true, true, true, 3n],
  );
  await assert.rejects(agent.call(api.edge.report, { sequence: 2, upserts }), refusedWith("ReportSuperseded"));
});

test("a new listing marks known files as named by it, and hears what became of them", async () => {
  const agent = await startAgent(cloud, "listed");
  const items = [recordingItem(), recordingItem()];
  await agent.report(items, { listing: { id: "listing-1", isLast: true, count: 2 } });
  const { recordingId, reportedAtNs } = await fileOf(agent, items[0]!);
  await prisma.recording.update({ where: { id: recordingId! }, data: { importStatus: "complete" } });
  const { imported, failed } = await agent.report(items, { listing: { id: "listing-2", isLast: false } });
  assert.deepEqual([imported, failed], [[items[0]!.versionId], []]);
  const file = await fileOf(agent, items[1]!);
  assert.deepEqual([file.listingId, file.reportedAtNs > reportedAtNs], ["listing-2", true]);
  const { isListingComplete } = await agent.report([], { listing: { id: "listing-2", isLast: true, count: 2 } });
  assert.equal(isListingComplete, true);
});

test("a report of known files that waits for a transaction does not overlook what that one changed", async () => {
  const agent = await startAgent(cloud, "waiting");
  const item = recordingItem();
  await agent.report([item]);
  const { id } = await fileOf(agent, item);
  const reported = await prisma.$transaction(async (tx) => {
    await tx.agent.update({ where: { deviceId: agent.deviceId }, data: { lastSeenAtNs: 1 } });
    await tx.edgeFile.update({ where: { id }, data: { path: "meanwhile.mcap" } });
    const answer = agent.report([item]);
    await untilLockWaits(cloud.deps.db);
    return { answer };
  });
  await reported.answer;
  assert.equal((await fileOf(agent, item)).path, item.path);
});
