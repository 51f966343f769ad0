import type { BlobStore, ListedObject } from "../blobs/blob-store.ts";
import type { Database } from "../db/client.ts";
import { withTransaction } from "../db/transaction.ts";
import { findOwners } from "./find-owners.ts";
import { judgeObject, type Verdict } from "./judge-object.ts";

export interface SweepOptions {
  /** The sweep only says what it would do. */
  readonly isDryRun: boolean;
  /** Leaves alone what is younger. */
  readonly cutoffMs: number;
  /** Removes what no row ever named, too. */
  readonly includesUnknown: boolean;
}

/** Something that the sweep has to say. */
export interface Finding {
  readonly outcome: "removed" | "kept" | "failed" | "missing";
  readonly key: string;
  readonly sizeBytes: number;
  readonly reason: string;
}

export interface SweepDeps {
  readonly db: Pick<Database, "prisma">;
  readonly blobs: Pick<BlobStore, "list" | "stat" | "delete">;
}

const PAGE = 500;

/** Removes from the store what no row can come to hold any more, a page at a time; a dry run says it would. */
export async function* sweepObjects(deps: SweepDeps, options: SweepOptions): AsyncGenerator<Finding, void> {
  for await (const page of pagesOf(deps.blobs.list(""))) {
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
    if (!isLeft) return { ...finding, outcome: "kept", reason: "somebody came to hold it meanwhile" };
    await deps.blobs.delete(key);
    return { ...finding, outcome: "removed" };
  } catch (error) {
    return { ...finding, outcome: "failed", reason: (error as Error).message };
  }
}

/**
 * Looks again under the upload's lock, and ends it: from then on nothing can take its bytes. The object goes after the commit;
 * what a crash leaves in between is found by the next sweep.
 */
async function giveUp({ db }: SweepDeps, object: ListedObject, { cutoffMs }: SweepOptions): Promise<boolean> {
  return withTransaction(db, async (tx) => {
    await tx.$queryRaw`SELECT id FROM "Upload" WHERE "blobKey" = ${object.key} FOR UPDATE`;
    const owners = (await findOwners(tx, [object.key])).get(object.key)!;
    if (judgeObject(object, owners, cutoffMs).kind === "keep") return false;
    await tx.upload.updateMany({ where: { blobKey: object.key }, data: { state: "removed" } });
    return true;
  });
}

async function* pagesOf(objects: AsyncIterable<ListedObject>): AsyncGenerator<ListedObject[], void> {
  let page: ListedObject[] = [];
  for await (const object of objects) {
    page.push(object);
    if (page.length < PAGE) continue;
    yield page;
    page = [];
  }
  if (page.length > 0) yield page;
}
