import { api, type Recording } from "@downlink/protocol";
import { eventually } from "@downlink/recordings/testing";
import { contextOf } from "../../../background/jobs/transaction-context.ts";
import { withTransaction } from "../../../db/transaction.ts";
import { workingStates } from "../../../import-life/import-request-state.ts";
import type { TestCloud } from "../../../testing/start-cloud.ts";
import { type BucketSite, noteObjects, type OwnerHints } from "../note-object.ts";
import { visitBucket } from "../visit-bucket.ts";

/** The actions of a control plane on a site that is a customer's bucket. */
export interface SiteActions {
  /** Says that something happened to an object, and waits until nothing of the site is under way. */
  note(name: string, hints?: OwnerHints): Promise<void>;
  scan(): Promise<string | undefined>;
  /** The recordings of the site, also those whose object is gone, by path and then by creation. */
  recordings(): Promise<Recording[]>;
  settle(): Promise<void>;
}

export function siteActions(
  cloud: TestCloud,
  { orgId, siteId, bucket }: BucketSite & { readonly bucket: string },
): SiteActions {
  const settle = () => untilSettled(cloud, siteId);
  return {
    settle,
    async note(name, hints) {
      await withTransaction(cloud.deps.db, (tx) =>
        noteObjects(contextOf(tx, cloud.deps), { orgId, siteId }, [{ name, hints }]),
      );
      await settle();
    },
    async scan() {
      const problem = await visitBucket(cloud.deps, siteId, { signal: AbortSignal.timeout(120_000), lists: true });
      await settle();
      return problem;
    },
    recordings: async () =>
      (await cloud.admin.call(api.recordings.list, { sortBy: "path" })).filter(
        ({ location }) => location?.bucket === bucket,
      ),
  };
}

async function untilSettled({ deps }: TestCloud, siteId: string): Promise<void> {
  // In the order in which one follows from the other, so that nothing is between two of them while they are counted.
  const count = async () => {
    const due = await deps.db.prisma.bucketObject.count({ where: { siteId, isDue: true, goneAtNs: null } });
    const { rows } = await deps.db.pool.query(
      "SELECT count(*)::int AS n FROM pgboss.job WHERE name = 'look-at-object' AND state < 'completed'",
    );
    const where = { siteId, state: { in: [...workingStates] } };
    const importing = await deps.db.prisma.importRequest.count({ where });
    return due + rows[0].n + importing;
  };
  await eventually(count, (left) => left === 0);
}
