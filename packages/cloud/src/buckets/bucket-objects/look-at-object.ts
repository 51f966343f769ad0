import { contextOf, type TransactionContext } from "../../background/jobs/transaction-context.ts";
import type { Deps } from "../../calls/context/context.ts";
import type { BucketObjectModel } from "../../db/generated/models.ts";
import { newId } from "../../db/ids.ts";
import { type Transaction, withTransaction } from "../../db/transaction.ts";
import { holdSite } from "../../organization/projects/find-site.ts";
import { isIndexingHeld } from "../../recovery/adoption-pass.ts";
import { BucketUnavailableError } from "../../store/blobs/buckets/bucket-unavailable.ts";
import type { FoundObject } from "../../store/blobs/buckets/customer-bucket.ts";
import { decideOn } from "./decide-on.ts";
import { loseObject } from "./lose-object.ts";
import { noteProblem } from "./note-problem.ts";
import { findReturned, returnObject } from "./return-object.ts";
import { findSiteWithPolicy, type SiteWithPolicy } from "./site-with-policy.ts";

export type LookDeps = Pick<Deps, "db" | "buckets" | "jobs" | "clock" | "log">;

/**
 * Does the job of a noted object. If the bucket cannot be read now, its next visit looks at what is still due; and so it does after a restore,
 * once it is known again what was deleted.
 */
export async function lookAtNoted(deps: LookDeps, { siteId, name }: Pick<BucketObjectModel, "siteId" | "name">) {
  if (await isIndexingHeld(deps.db.prisma)) return;
  const site = await findSiteWithPolicy(deps.db, siteId);
  if (!site) return;
  try {
    await lookAtObject(deps, site, name);
  } catch (error) {
    if (!(error instanceof BucketUnavailableError)) throw error;
    await deps.db.prisma.bucketObject.updateMany({ where: { siteId, name, goneAtNs: null }, data: { isDue: true } });
    await noteProblem(deps, site, error.message);
  }
}

/**
 * Looks at what the bucket has under a name now, and does what follows from that. It may be repeated, also at the same moment: of several
 * looks the one that began last counts.
 */
export async function lookAtObject(deps: LookDeps, site: SiteWithPolicy, name: string): Promise<void> {
  const row = await withTransaction(deps.db, (tx) => beginLook({ tx, nowNs: deps.clock.nowNs() }, site, name));
  const bucket = await deps.buckets.connect(site.bucket);
  const found = name.startsWith(site.bucket.prefix) ? await bucket.find(name) : undefined;
  await withTransaction(deps.db, (tx) => applyLook(contextOf(tx, deps), site, { row, found }));
}

/** From here on the looks of before count no more. */
async function beginLook(
  { tx, nowNs }: Pick<TransactionContext, "tx" | "nowNs">,
  { orgId, siteId }: SiteWithPolicy,
  name: string,
): Promise<Pick<BucketObjectModel, "id" | "looks">> {
  const [row] = await tx.$queryRaw<Pick<BucketObjectModel, "id" | "looks">[]>`
    INSERT INTO "BucketObject" (id, "orgId", "siteId", name, state, "isDue", looks, "createdAtNs", "updatedAtNs")
    VALUES (${newId("obj")}, ${orgId}, ${siteId}, ${name}, 'noted', false, 1, ${nowNs}, ${nowNs})
    ON CONFLICT ("siteId", name) WHERE "goneAtNs" IS NULL
    DO UPDATE SET "isDue" = false, looks = "BucketObject".looks + 1, "updatedAtNs" = ${nowNs}
    RETURNING id, looks`;
  return row!;
}

interface Look {
  readonly row: Pick<BucketObjectModel, "id" | "looks">;
  /** Undefined: the bucket has no such object. */
  readonly found: FoundObject | undefined;
}

async function applyLook(context: TransactionContext, site: SiteWithPolicy, { row, found }: Look): Promise<void> {
  const { tx } = context;
  if (!(await holdSite(tx, site.siteId))) return; // its rows went with it
  const known = await lockLook(tx, row);
  if (!known) return; // a later look decides
  if (!found && known.etag !== null) return loseObject(context, known, "ObjectGone");
  if (!found) return known.isDue ? undefined : forget(tx, known); // what is due was noted since
  if (known.etag === null) return meet(context, site, { known, found });
  if (!isSameObject(known, found)) {
    await loseObject(context, known, "ObjectReplaced");
    return meet(context, site, { known: await insertNext(context, known), found });
  }
  await describe(context, known, found);
  const isOfFormerPolicy = known.state === "ignored" && known.policyRevision !== site.policyRevision;
  if (isOfFormerPolicy || known.state === "noted") await decideOn(context, site, { object: known, found });
}

async function lockLook(tx: Transaction, { id, looks }: Look["row"]): Promise<BucketObjectModel | null> {
  const where = { id, looks, goneAtNs: null };
  await tx.$queryRaw`SELECT id FROM "BucketObject" WHERE id = ${id} FOR UPDATE`;
  return tx.bucketObject.findFirst({ where });
}

/** Deletes a row that never described an object. */
async function forget(tx: Transaction, { id }: BucketObjectModel): Promise<void> {
  await tx.bucketObject.delete({ where: { id } });
}

interface Met {
  readonly known: BucketObjectModel;
  readonly found: FoundObject;
}

/** The bytes are new under this name, unless the bucket had the same before. */
async function meet(context: TransactionContext, site: SiteWithPolicy, { known, found }: Met): Promise<void> {
  const returned = await findReturned(context.tx, known, found);
  if (returned) {
    await forget(context.tx, known);
    await describe(context, returned, found);
    return returnObject(context, site, { object: returned, found });
  }
  await describe(context, known, found);
  await decideOn(context, site, { object: known, found });
}

async function describe({ tx, nowNs }: TransactionContext, { id }: BucketObjectModel, found: FoundObject) {
  const { versionId, etag, sizeBytes, modifiedAtNs } = found;
  const data = { versionId, etag, sizeBytes, modifiedAtNs, seenAtNs: nowNs, goneAtNs: null };
  await tx.bucketObject.update({ where: { id }, data });
}

/** The next object of a name keeps what a notification said of its owner. */
async function insertNext({ tx, nowNs }: TransactionContext, former: BucketObjectModel): Promise<BucketObjectModel> {
  const { orgId, siteId, name, deviceId, deviceName, projectId, isDue, looks } = former;
  const kept = { orgId, siteId, name, deviceId, deviceName, projectId, isDue, looks };
  const data = { id: newId("obj"), ...kept, state: "noted", createdAtNs: nowNs, updatedAtNs: nowNs } as const;
  return tx.bucketObject.create({ data });
}

/** Says whether the row is of the bytes that the bucket has: of the same version, or else of the same tag and size. */
function isSameObject(known: BucketObjectModel, found: FoundObject): boolean {
  if (known.versionId !== null || found.versionId !== null) return known.versionId === found.versionId;
  return known.etag === found.etag && known.sizeBytes === found.sizeBytes;
}
