// A bucket is visited for what notifications missed: once a minute for objects that are due because the bucket could not be read when they
// were noted, and by a setting for a listing of all its names. One process at a time does that for a site; a second one would do no harm.

import type { Deps } from "../../calls/context/context.ts";
import { withSmallHeap } from "../../core/heap-growth.ts";
import { runSomeAtOnce } from "../../core/run-some-at-once.ts";
import { withTransaction } from "../../db/transaction.ts";
import { isIndexingHeld } from "../../recovery/adoption-pass.ts";
import { BucketUnavailableError } from "../../store/blobs/buckets/bucket-unavailable.ts";
import { listNames } from "./list-names.ts";
import { type LookDeps, lookAtObject } from "./look-at-object.ts";
import { endProblem, noteProblem } from "./note-problem.ts";
import { findSiteWithPolicy, type SiteWithPolicy } from "./site-with-policy.ts";
import { takeTurn } from "./visit-turn.ts";

export type VisitDeps = LookDeps & Pick<Deps, "listBucketsSeconds">;

const DUE_PAGE = 500;
const AT_ONCE = 8;
/** An object that has been due for so long has no job any more. */
const OVERDUE_NS = 60_000_000_000n;
/** Otherwise a listing would import again what was deleted since the backup. */
const RECOVERING = "the deployment recovers, and does not know yet what was deleted; try again in a minute";
const NS_PER_SECOND = 1_000_000_000n;

/**
 * Queues a visit of each bucket that has something due. The first listing waits for a policy, but not for ever: without one everything in the
 * bucket is imported.
 */
export async function queueVisits(deps: VisitDeps): Promise<void> {
  const nowNs = deps.clock.nowNs();
  const { listBucketsSeconds: seconds } = deps;
  const oldestNs = seconds === 0 ? null : nowNs - BigInt(seconds) * NS_PER_SECOND;
  const due = await deps.db.prisma.$queryRaw<{ orgId: string; siteId: string }[]>`
    SELECT s."orgId", b."siteId" FROM "SiteBucket" b JOIN "Site" s ON s.id = b."siteId"
    WHERE (b."turnUntilNs" IS NULL OR b."turnUntilNs" < ${nowNs}) AND (
      b."listingSinceNs" IS NOT NULL OR COALESCE(b."listedAtNs", s."createdAtNs") < ${oldestNs}::bigint
      OR (b."listedAtNs" IS NULL AND ${oldestNs}::bigint IS NOT NULL
        AND EXISTS (SELECT 1 FROM "IngestPathPolicy" p WHERE p."siteId" = b."siteId"))
      OR b."listedAtNs" < (SELECT max(p."createdAtNs") FROM "IngestPathPolicy" p WHERE p."siteId" = b."siteId")
      OR EXISTS (SELECT 1 FROM "BucketObject" o
        WHERE o."siteId" = b."siteId" AND o."isDue" AND o."goneAtNs" IS NULL AND o."updatedAtNs" < ${nowNs - OVERDUE_NS}))`;
  for (const data of due) await withTransaction(deps.db, (tx) => deps.jobs.enqueue(tx, { name: "list-bucket", data }));
}

interface Visit {
  readonly signal: AbortSignal;
  /** A listing is made whether or not it is due. */
  readonly lists?: boolean;
}

/** Looks at what is overdue, and lists the bucket if that is due. Returns why the bucket cannot be read; undefined: it can. */
export async function visitBucket(
  deps: VisitDeps,
  siteId: string,
  { signal, lists = false }: Visit,
): Promise<string | undefined> {
  if (await isIndexingHeld(deps.db.prisma)) return RECOVERING;
  const site = await findSiteWithPolicy(deps.db, siteId);
  if (!site) return undefined;
  const turn = await takeTurn(deps, siteId);
  if (!turn) return "another process lists it at this moment";
  await using _turn = turn;
  try {
    await (await deps.buckets.connect(site.bucket)).check();
    await endProblem(deps, site);
    await lookAtOverdue(deps, site, signal);
    if (lists || (await isListingDue(deps, siteId)))
      await withSmallHeap(() => listNames(deps, siteId, { signal, turn }));
    return undefined;
  } catch (error) {
    if (!(error instanceof BucketUnavailableError)) throw error;
    await noteProblem(deps, site, error.message);
    return error.message;
  }
}

async function lookAtOverdue(deps: VisitDeps, site: SiteWithPolicy, signal: AbortSignal): Promise<void> {
  const overdueNs = deps.clock.nowNs() - OVERDUE_NS;
  for (let after = ""; ; ) {
    signal.throwIfAborted();
    const page = await deps.db.prisma.bucketObject.findMany({
      where: { siteId: site.siteId, isDue: true, goneAtNs: null, updatedAtNs: { lt: overdueNs }, id: { gt: after } },
      select: { id: true, name: true },
      orderBy: { id: "asc" },
      take: DUE_PAGE,
    });
    await runSomeAtOnce(page, AT_ONCE, ({ name }) => lookAtObject(deps, site, name));
    if (page.length < DUE_PAGE) return;
    after = page.at(-1)!.id;
  }
}

async function isListingDue(deps: VisitDeps, siteId: string): Promise<boolean> {
  const { prisma } = deps.db;
  const bucket = await prisma.siteBucket.findUnique({ where: { siteId }, include: { site: true } });
  if (!bucket) return false;
  const { listingSinceNs, listedAtNs, site } = bucket;
  if (listingSinceNs !== null) return true;
  const { listBucketsSeconds: seconds } = deps;
  if (listedAtNs === null && seconds === 0) return false;
  const policy = await prisma.ingestPathPolicy.aggregate({ where: { siteId }, _max: { createdAtNs: true } });
  if ((policy._max.createdAtNs ?? 0n) > (listedAtNs ?? 0n)) return true;
  return seconds > 0 && (listedAtNs ?? site.createdAtNs) < deps.clock.nowNs() - BigInt(seconds) * NS_PER_SECOND;
}
