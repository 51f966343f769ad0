import type { ListedName } from "../blobs/buckets/customer-bucket.ts";
import { newId } from "../db/ids.ts";
import type { Moment } from "../jobs/transaction-context.ts";
import type { SiteWithPolicy } from "./site-with-policy.ts";

/** Stores that the policy ignores these objects. Nobody needs to look at them: whatever they are, nothing follows from that. */
export async function insertIgnored(
  { tx, nowNs }: Moment,
  { orgId, siteId, policyRevision }: SiteWithPolicy,
  listed: readonly ListedName[],
): Promise<void> {
  if (listed.length === 0) return;
  const data = listed.map(({ name, etag, sizeBytes, modifiedAtNs }) => ({
    ...{ id: newId("obj"), orgId, siteId, name, state: "ignored" as const, isDue: false, policyRevision },
    ...{ etag, sizeBytes, modifiedAtNs, seenAtNs: nowNs, createdAtNs: nowNs, updatedAtNs: nowNs },
  }));
  await tx.bucketObject.createMany({ data, skipDuplicates: true });
}
