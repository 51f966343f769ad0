import type { Moment } from "../../background/jobs/transaction-context.ts";
import { newId } from "../../db/ids.ts";
import type { ListedName } from "../../store/blobs/buckets/customer-bucket.ts";
import type { SiteWithPolicy } from "./site-with-policy.ts";

/** Stores that the policy ignores these objects. They need not be looked at: whatever they are, nothing follows from that. */
export async function insertIgnored(
  { tx, nowNs }: Moment,
  { orgId, siteId, policyRevision }: SiteWithPolicy,
  listed: readonly ListedName[],
): Promise<void> {
  if (listed.length === 0) return;
  const ids = listed.map(() => newId("obj"));
  const names = listed.map(({ name }) => name);
  const etags = listed.map(({ etag }) => etag);
  const sizes = listed.map(({ sizeBytes }) => sizeBytes);
  const times = listed.map(({ modifiedAtNs }) => modifiedAtNs);
  // One value for a column, not for a field: Prisma keeps the values of its last 100 statements.
  await tx.$executeRaw`
    INSERT INTO "BucketObject" (id, "orgId", "siteId", name, state, "isDue", "policyRevision",
      etag, "sizeBytes", "modifiedAtNs", "seenAtNs", "createdAtNs", "updatedAtNs")
    SELECT n.id, ${orgId}, ${siteId}, n.name, 'ignored', false, ${policyRevision}::int,
      n.etag, n."sizeBytes", n."modifiedAtNs", ${nowNs}, ${nowNs}, ${nowNs}
    FROM unnest(${ids}::text[], ${names}::text[], ${etags}::text[], ${sizes}::bigint[], ${times}::bigint[])
      AS n(id, name, etag, "sizeBytes", "modifiedAtNs")
    ON CONFLICT DO NOTHING`;
}
