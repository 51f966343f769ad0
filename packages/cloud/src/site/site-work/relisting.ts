// A relisting compares what a self-hosted site has with what it should have: it says which objects its store has, and a job judges them.
// It is wanted of each new process, because that may have begun over another copy of the folder, and once a day. Until it was judged,
// nothing is removed at the site.

import type { api, Input } from "@downlink/protocol";
import type { SiteCtx } from "../../calls/context/context.ts";
import type { SiteProcessModel } from "../../db/generated/models.ts";
import { newId } from "../../db/ids.ts";
import type { Transaction } from "../../db/transaction.ts";

type Hello = Input<(typeof api.site)["hello"]>;

const RELIST_AFTER_NS = 24n * 3600n * 1_000_000_000n;

/** The result of comparing the two sides at a hello. */
export type Comparison = "same" | "another process" | "the site was set back" | "the control plane was set back";

/** Compares what both sides know of the last start and the last lease. */
export function compareSides(current: SiteProcessModel, { store, lease, instanceId }: Hello): Comparison {
  const isKnownMark = current.storeMark === null || store.marks.includes(current.storeMark);
  if (store.id !== current.storeId || BigInt(store.starts) < current.storeStarts || !isKnownMark)
    return "the site was set back";
  if (lease !== undefined && BigInt(lease) > current.leaseNumber) return "the control plane was set back";
  return instanceId === current.leaseInstanceId ? "same" : "another process";
}

/** The columns that ask the site for a new relisting; one that went on before comes to nothing. */
export function newRelisting() {
  return { relistId: newId("rel"), isListed: false };
}

/** Asks for a relisting if the last one is a day old, and says which one is wanted now. */
export async function keepRelisted(tx: Transaction, { caller: { siteId }, clock }: SiteCtx): Promise<string | null> {
  const { relistId, relistedAtNs } = await tx.siteProcess.findUniqueOrThrow({ where: { siteId } });
  if (relistId !== null || (relistedAtNs ?? 0n) > clock.nowNs() - RELIST_AFTER_NS) return relistId;
  const data = newRelisting();
  await tx.siteProcess.update({ where: { siteId }, data });
  return data.relistId;
}

interface Listed {
  readonly present: readonly { readonly key: string; readonly size: number }[];
  readonly relistedId?: string | undefined;
}

/**
 * Notes which objects the site has, and returns the keys of those that the control plane does not know. The call that ends a relisting has
 * a job judge it.
 */
export async function notePresent(
  tx: Transaction,
  { caller: { siteId, orgId }, jobs }: SiteCtx,
  { present, relistedId }: Listed,
): Promise<string[]> {
  const strangeKeys = await seeAll(tx, siteId, present);
  if (relistedId === undefined) return strangeKeys;
  const where = { siteId, relistId: relistedId, isListed: false };
  const { count } = await tx.siteProcess.updateMany({ where, data: { isListed: true } });
  if (count > 0) await jobs.enqueue(tx, { name: "judge-listed", data: { orgId, siteId } });
  return strangeKeys;
}

/** An object of another size is not the one that was reported. */
async function seeAll(tx: Transaction, siteId: string, present: Listed["present"]): Promise<string[]> {
  if (present.length === 0) return [];
  const keys = present.map(({ key }) => key);
  const sizes = present.map(({ size }) => BigInt(size));
  await tx.$executeRaw`
    UPDATE "SiteObject" o SET "seenIn" = p."relistId"
    FROM unnest(${keys}::text[], ${sizes}::bigint[]) AS n(key, size), "SiteProcess" p
    WHERE o.key = n.key AND o."siteId" = ${siteId} AND o."sizeBytes" = n.size AND p."siteId" = ${siteId}`;
  const known = await tx.siteObject.findMany({ where: { siteId, key: { in: keys } }, select: { key: true } });
  const isKnown = new Set(known.map(({ key }) => key));
  return keys.filter((key) => !isKnown.has(key));
}
