import { pacePages } from "../../core/pace.ts";
import { pagesOf } from "../../core/pages-of.ts";
import { withTransaction } from "../../db/transaction.ts";
import type { MarkDeps } from "../../import-life/mark-damaged.ts";
import { mayGiveUp, requireRemovable } from "../../recovery/held-deployment.ts";
import type { BlobStore, ListedObject } from "../../store/blobs/blob-store.ts";
import { removeObject } from "../manifests/remove-object.ts";
import { findOwners } from "./find-owners.ts";
import { judgeObject, type Verdict } from "./judge-object.ts";

export interface SweepOptions {
  /** The sweep only reports what it would do. */
  readonly isDryRun: boolean;
  /** Younger objects are left alone. */
  readonly cutoffMs: number;
  /** Objects that no row ever named are removed, too. */
  readonly includesUnknown: boolean;
  /** Stops the sweep before its next page. */
  readonly signal?: AbortSignal;
}

/** A finding of the sweep. */
export interface Finding {
  readonly outcome: "removed" | "kept" | "failed" | "missing";
  readonly key: string;
  readonly sizeBytes: number;
  readonly reason: string;
}

export interface SweepDeps extends MarkDeps {
  readonly blobs: Pick<BlobStore, "list" | "stat" | "delete" | "listParts" | "listNotes" | "removeNote">;
}

/** Removes from the store what no row can hold any more, a page at a time; a dry run only reports it. */
export async function* sweepObjects(deps: SweepDeps, options: SweepOptions): AsyncGenerator<Finding, void> {
  for await (const page of pacePages(pagesOf(deps.blobs.list("")), options.signal)) {
    options.signal?.throwIfAborted();
    const old = page.filter(({ modifiedAtMs }) => modifiedAtMs < options.cutoffMs);
    for (const leftover of await judge(deps, old, options)) yield await remove(deps, leftover, options);
  }
}

interface Leftover {
  readonly object: ListedObject;
  readonly verdict: Exclude<Verdict, { kind: "keep" }>;
}

async function judge(
  { db }: SweepDeps,
  objects: readonly ListedObject[],
  { cutoffMs }: SweepOptions,
): Promise<Leftover[]> {
  const owners = await findOwners(
    db.prisma,
    objects.map(({ key }) => key),
  );
  return objects.flatMap((object) => {
    const verdict = judgeObject(object, owners.get(object.key)!, cutoffMs);
    return verdict.kind === "keep" ? [] : [{ object, verdict }];
  });
}

async function remove(deps: SweepDeps, { object, verdict }: Leftover, options: SweepOptions): Promise<Finding> {
  const { key, sizeBytes } = object;
  const finding = { key, sizeBytes, reason: verdict.reason };
  if (verdict.kind === "unknown" && !options.includesUnknown) return { ...finding, outcome: "kept" };
  if (options.isDryRun) return { ...finding, outcome: "removed" };
  try {
    const isLeft = await giveUp(deps, object, options);
    if (!isLeft)
      return {
        ...finding,
        outcome: "kept",
        reason: "a row came to name it meanwhile, or it is too young after a restore",
      };
    await removeObject(deps, key);
    return { ...finding, outcome: "removed" };
  } catch (error) {
    return { ...finding, outcome: "failed", reason: (error as Error).message };
  }
}

/**
 * Judges again under the upload's lock, and ends the upload: from then on nothing can use its bytes. The object is removed after the
 * commit; the next sweep finds what a crash leaves in between.
 */
async function giveUp({ db }: SweepDeps, object: ListedObject, { cutoffMs }: SweepOptions): Promise<boolean> {
  return withTransaction(db, async (tx) => {
    if (!mayGiveUp(await requireRemovable(tx), BigInt(cutoffMs) * 1_000_000n)) return false;
    await tx.$queryRaw`SELECT id FROM "Upload" WHERE "blobKey" = ${object.key} FOR UPDATE`;
    const owners = (await findOwners(tx, [object.key])).get(object.key)!;
    if (judgeObject(object, owners, cutoffMs).kind === "keep") return false;
    await tx.upload.updateMany({ where: { blobKey: object.key }, data: { state: "removed" } });
    return true;
  });
}
