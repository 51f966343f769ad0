import { api, type IngestPathRule } from "@downlink/protocol";
import { BucketUnavailableError } from "../../../store/blobs/buckets/bucket-unavailable.ts";
import type { TestCloud } from "../../../testing/start-cloud.ts";
import { type LookDeps, lookAtObject } from "../look-at-object.ts";
import { findSiteWithPolicy } from "../site-with-policy.ts";
import { visitBucket } from "../visit-bucket.ts";
import { storeBucketSite } from "./store-bucket-site.ts";
import { stubBucket } from "./stub-bucket.ts";

const { signal } = new AbortController();

/** Makes a bucket refuse, in `StubBucket.fail`. */
export function refuse(): never {
  throw new BucketUnavailableError("the bucket refuses it (403)", undefined);
}

/** Makes a site whose bucket is a stub. */
export async function openStubSite(cloud: TestCloud, pageSize = 1000) {
  const { db } = cloud.deps;
  const { id: siteId, orgId } = await storeBucketSite(cloud, {});
  const stub = stubBucket(pageSize);
  const deps = { ...cloud.deps, buckets: stub.buckets };
  const rows = () => db.prisma.bucketObject.findMany({ where: { siteId }, orderBy: [{ name: "asc" }, { id: "asc" }] });
  return {
    ...{ siteId, orgId, stub, deps, rows },
    scan: () => visitBucket(deps, siteId, { signal, lists: true }),
    look: async (name: string, by: LookDeps = deps) => lookAtObject(by, (await findSiteWithPolicy(db, siteId))!, name),
    save: (rules: IngestPathRule[]) =>
      cloud.admin.call(api.ingestPathPolicies.save, { id: siteId, schemaVersion: 1, rules }),
    shown: async () => (await rows()).map(({ name, state, goneAtNs }) => [name, goneAtNs === null ? state : "gone"]),
    requests: () => db.prisma.importRequest.findMany({ where: { siteId }, orderBy: { id: "asc" } }),
  };
}
