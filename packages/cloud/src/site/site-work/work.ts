// A call for work waits by looking once a second: there is one process for each site, and what it looks for stands in two small indexes.

import { createHash } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { type api, type Input, type Output, siteLimits } from "@downlink/protocol";
import type { SiteCtx } from "../../calls/context/context.ts";
import type { Complete } from "../../core/complete.ts";
import { findUnneededLakes, findWantedLakes } from "../../data/lake-files/needed-lakes.ts";
import { Prisma } from "../../db/generated/client.ts";
import { holdIncarnation } from "../../db/incarnation.ts";
import type { Transaction } from "../../db/transaction.ts";
import { workingStates } from "../../import-life/import-request-state.ts";
import { isIndexingHeld } from "../../recovery/adoption-pass.ts";
import { holdForRemoval } from "../../recovery/held-deployment.ts";
import { keepKeys } from "../../store/site-keys/site-key-rows.ts";
import { findQuestions } from "./confirmations.ts";
import { keepRelisted } from "./relisting.ts";
import { findSalvages } from "./salvages.ts";
import { withSiteLease } from "./site-lease.ts";
import { toKeys } from "./site-rows.ts";

type Work = (typeof api.site)["work"];
type Wanted = Omit<Complete<Output<Work>>, "etag" | "serverTime">;

const LOOK_AGAIN_MS = 1000;
/** All objects of a site are looked through for those that no row names, so not with every look. */
const LOOKS_A_MARK = 10;

/** Answers the whole of what is wanted of the site: at once if the caller does not know it, else as soon as it changes. */
export async function work(ctx: SiteCtx, { wait, etag: known }: Input<Work>): Promise<Complete<Output<Work>>> {
  const endsAtMs = performance.now() + wait * 1000;
  let ofLakes: LakeWork = { lakes: [], lakeRemovals: [] };
  for (let look = 0; ; look++) {
    const wanted = await withSiteLease(ctx, async (tx) => {
      if (look % LOOKS_A_MARK === 0) {
        await markUnnamed(tx, ctx);
        ofLakes = await findLakeWork(tx, ctx);
      }
      return { ...(await findWanted(tx, ctx)), ...ofLakes };
    });
    const etag = etagOf(wanted);
    if (etag === known && performance.now() < endsAtMs && !ctx.isInterrupted()) await delay(LOOK_AGAIN_MS);
    // Another look renews the lease: for a process that has gone that would keep out the one that follows it.
    if (etag !== known || performance.now() >= endsAtMs || ctx.isInterrupted())
      return { etag, serverTime: ctx.clock.nowNs(), ...wanted };
  }
}

function etagOf(wanted: Wanted): string {
  return createHash("sha256").update(JSON.stringify(wanted)).digest("base64url").slice(0, 22);
}

type LakeWork = Pick<Wanted, "lakes" | "lakeRemovals">;

async function findLakeWork(tx: Transaction, { caller: { siteId } }: SiteCtx): Promise<LakeWork> {
  const lakeRemovals = (await holdForRemoval(tx)).danger === undefined ? await findUnneededLakes(tx, siteId) : [];
  return { lakes: await findWantedLakes(tx, siteId), lakeRemovals };
}

async function findWanted(tx: Transaction, ctx: SiteCtx): Promise<Omit<Wanted, keyof LakeWork>> {
  const { siteId } = ctx.caller;
  const incarnation = await holdIncarnation(tx);
  const keys = toKeys(await keepKeys(tx, { siteId, incarnation, nowNs: ctx.clock.nowNs() }));
  // A copy that is read before its original is restored would take the original's place.
  const imports = (await isIndexingHeld(tx)) ? [] : await findImports(tx, siteId);
  const salvages = await findSalvages(tx, ctx);
  const relistId = await keepRelisted(tx, ctx);
  const removals = relistId === null ? [...(await findRemovals(tx, ctx)), ...(await findUnwanted(tx, ctx))] : [];
  const confirmations = await findQuestions(tx, ctx);
  return {
    incarnation,
    keys,
    imports,
    salvages,
    removals: removals.slice(0, siteLimits.itemsPerList),
    relistId,
    confirmations,
  };
}

async function findImports(tx: Transaction, siteId: string): Promise<Wanted["imports"]> {
  const rows = await tx.importRequest.findMany({
    where: { siteId, siteObjectKey: { not: null }, state: { in: [...workingStates] } },
    orderBy: [{ createdAtNs: "asc" }, { id: "asc" }],
    take: siteLimits.itemsPerList,
    select: { id: true, siteObjectKey: true, filename: true, attempts: true },
  });
  return rows.map(({ id, siteObjectKey, filename, attempts }) => ({
    ...{ requestId: id, key: siteObjectKey!, filename },
    attempt: attempts + 1,
  }));
}

const IS_UNNAMED = Prisma.sql`NOT EXISTS (SELECT FROM "Recording" r WHERE r."siteObjectKey" = o.key)
  AND NOT EXISTS (SELECT FROM "ImportRequest" q WHERE q."siteObjectKey" = o.key)`;

/** Marks the objects that no row names any more. An object that a row names again is marked no longer. */
async function markUnnamed(tx: Transaction, { caller: { siteId }, clock }: SiteCtx): Promise<void> {
  await tx.$executeRaw`
    UPDATE "SiteObject" o SET "unnamedSinceNs" = CASE WHEN ${IS_UNNAMED} THEN ${clock.nowNs()}::bigint END
    WHERE o."siteId" = ${siteId} AND ("unnamedSinceNs" IS NOT NULL) <> (${IS_UNNAMED})`;
}

/**
 * Finds objects that no row names any more, for as long as the operator's backups ask. Only what the site reported is ever in this list: a
 * database of before the report does not know an object, and so never has it removed.
 */
async function findRemovals(tx: Transaction, { caller, clock, removalDelaySeconds }: SiteCtx) {
  if ((await holdForRemoval(tx)).danger !== undefined) return [];
  const untilNs = clock.nowNs() - BigInt(removalDelaySeconds) * 1_000_000_000n;
  // A mark may be some seconds old, so whether a row names the object is asked again.
  return tx.$queryRaw<{ requestId: string; key: string }[]>`
    SELECT "requestId", key FROM "SiteObject" o WHERE o."siteId" = ${caller.siteId} AND "unnamedSinceNs" <= ${untilNs} AND ${IS_UNNAMED}
    ORDER BY key LIMIT ${siteLimits.itemsPerList}`;
}

/**
 * An upload whose request failed is kept for so long: the file may be requested again, and the upload's last call may still be on its way.
 */
const FAILED_KEPT_NS = 7n * 24n * 3600n * 1_000_000_000n;

/**
 * Finds uploads of agents that are not wanted any more. None is removed while an agent may have a capability for it, with which it could
 * begin the upload again. None is removed, either, once the site has reported its file, which is then an object like any other.
 */
async function findUnwanted(tx: Transaction, { caller: { siteId }, clock }: SiteCtx) {
  if ((await holdForRemoval(tx)).danger !== undefined) return [];
  const nowNs = clock.nowNs();
  return tx.$queryRaw<{ requestId: string; key: string }[]>`
    SELECT u."requestId", u.key FROM "SiteUpload" u WHERE u."siteId" = ${siteId} AND u."capableUntilNs" <= ${nowNs}
      AND NOT EXISTS (SELECT FROM "SiteObject" o WHERE o.key = u.key)
      AND (NOT EXISTS (SELECT FROM "ImportRequest" q WHERE q.id = u."requestId" AND q."siteId" = u."siteId"
          AND (q.state = 'awaiting' OR (q.state = 'error' AND q."updatedAtNs" > ${nowNs - FAILED_KEPT_NS})))
        OR u."isSuperseded")
    ORDER BY u.key LIMIT ${siteLimits.itemsPerList}`;
}
