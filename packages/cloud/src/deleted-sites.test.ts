// Requests name their site without a foreign key, so that they outlive it. Whatever makes one while the site is being deleted keeps the site
// until it has committed: then the deletion ends the request, or is refused because of it.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api } from "@downlink/protocol";
import type { JobQueue } from "./background/jobs/queue.ts";
import { openStubSite } from "./buckets/bucket-objects/testing/open-stub-site.ts";
import { anObject } from "./buckets/bucket-objects/testing/stub-bucket.ts";
import { newId } from "./db/ids.ts";
import { withTransaction } from "./db/transaction.ts";
import type { Manifest } from "./keeping/manifests/manifest.ts";
import { findOwners } from "./restoring/adoption/find-owners.ts";
import { restoreRequest } from "./restoring/adoption/restore-rows.ts";
import { untilLockWaits } from "./testing/lock-waits.ts";
import { startCloud } from "./testing/start-cloud.ts";

const cloud = await startCloud({ after }, { works: false });
const { admin, deps } = cloud;
const { prisma } = deps.db;
const { orgId } = await prisma.project.findFirstOrThrow();

/** Begins to delete a site, and resolves once the deletion waits for another transaction's lock. */
async function beginDeletion(id: string) {
  const deletion = admin.call(api.sites.delete, { id }).then(
    () => "deleted",
    (error: { code: string }) => error.code,
  );
  await untilLockWaits(deps.db);
  return { deletion };
}

test("an object that is looked at while its site is deleted leaves no import that waits", async () => {
  const site = await openStubSite(cloud);
  site.stub.objects.set("a.mcap", anObject());
  let begun: Awaited<ReturnType<typeof beginDeletion>> | undefined;
  const jobs: JobQueue = {
    enqueue: async () => {
      begun = await beginDeletion(site.siteId);
    },
    enqueueAll: async () => {},
    enqueueIndexing: async () => {},
    enqueueReading: async () => {},
    enqueueThumbnails: async () => {},
    enqueueRemovals: async () => {},
  };
  await site.look("a.mcap", { ...site.deps, jobs });
  assert.equal(await begun?.deletion, "deleted");
  assert.deepEqual(
    (await site.requests()).map(({ state, errorCode, blobKey }) => [state, errorCode, blobKey]),
    [["error", "SiteDeleted", null]],
  );
});

test("an object whose site is deleted before anything follows from the look is nobody's", async () => {
  const site = await openStubSite(cloud);
  site.stub.objects.set("a.mcap", anObject());
  site.stub.fail = async () => void (await admin.call(api.sites.delete, { id: site.siteId }));
  await site.look("a.mcap");
  assert.deepEqual(await site.requests(), []);
});

test("a site of ours stays while an upload to it comes back after a restore", async () => {
  const { id: siteId } = await admin.call(api.sites.create, { name: "second", type: "self-hosted" });
  await prisma.site.update({ where: { id: siteId }, data: { type: "service-hosted" } });
  const upload = { uploadId: newId("upl"), requestId: newId("req"), uploadKind: "file", sizeBytes: 1n };
  const about = { kind: "begun", orgId, siteId, source: "upload", filename: "a.mcap", priority: 0 };
  const manifest = { ...upload, ...about, requestedAtNs: 1n, begunAtNs: 1n } as unknown as Manifest;
  const deletion = await withTransaction(deps.db, async (tx) => {
    const owners = (await findOwners(tx, manifest, 1n))!;
    const begun = await beginDeletion(siteId);
    await restoreRequest(tx, manifest, { owners, recordingId: null, nowNs: 1n });
    return begun;
  });
  assert.equal(await deletion.deletion, "Conflict");
});
