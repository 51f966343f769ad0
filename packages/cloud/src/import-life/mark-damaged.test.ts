import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api } from "@downlink/protocol";
import { storeBucketSite } from "../buckets/bucket-objects/testing/store-bucket-site.ts";
import { newId } from "../db/ids.ts";
import { startCloud } from "../testing/start-cloud.ts";
import { doubtData, markDamaged } from "./mark-damaged.ts";

const cloud = await startCloud({ after }, { works: false });
const { admin, deps } = cloud;
const { prisma } = deps.db;
const { id: projectId, orgId } = await prisma.project.findFirstOrThrow();

/** Stores an imported recording with pictures. */
async function makeRecording(data: { blobKey: string; siteId?: string }): Promise<string> {
  const id = newId("rec");
  const about = { id, orgId, projectId, path: `${id}.mcap`, sizeBytes: 1n, startNs: 1n, endNs: 2n, createdAtNs: 1n };
  const facts = { format: "mcap", messageCount: 0n, metadata: [], isEdge: false, durationNs: 1n } as const;
  await prisma.recording.create({ data: { ...about, ...facts, importStatus: "complete", ...data } });
  await prisma.recordingThumbnails.create({ data: { recordingId: id, blobKey: `${id}/thumb_1`, madeAtNs: 1n } });
  return id;
}

const forgetDoubt = () => prisma.deployment.update({ where: { id: 1 }, data: { damageSeenAtNs: null } });
const isDoubted = async () => (await prisma.deployment.findFirstOrThrow()).damageSeenAtNs !== null;
const hasPictures = async (recordingId: string) =>
  (await prisma.recordingThumbnails.count({ where: { recordingId } })) > 0;

test("damaged data in our own store casts doubt on it, and what a customer's bucket lacks does not", async () => {
  const { id: siteId } = await storeBucketSite(cloud, {});
  for (const [key, doubts] of [
    [newId("rec"), true],
    [newId("obj"), false],
  ] as const) {
    const blobKey = `${orgId}/${key}`;
    const id = await makeRecording(doubts ? { blobKey } : { blobKey, siteId });
    await forgetDoubt();
    await doubtData(deps, orgId, [id]);
    assert.equal(await isDoubted(), doubts, `${key} among others`);
    await forgetDoubt();
    await markDamaged(deps, blobKey, "missing");
    assert.equal((await prisma.recording.findUniqueOrThrow({ where: { id } })).storedDamage, "missing");
    assert.equal(await isDoubted(), doubts, key);
  }
});

test("the pictures of a bucket's recordings go with its site", async () => {
  const { id: siteId } = await storeBucketSite(cloud, {});
  const [theirs, ours] = [
    await makeRecording({ blobKey: `${orgId}/${newId("obj")}`, siteId }),
    await makeRecording({ blobKey: `${orgId}/${newId("rec")}` }),
  ];
  await admin.call(api.sites.delete, { id: siteId });
  assert.deepEqual([await hasPictures(theirs), await hasPictures(ours)], [false, true]);
});
