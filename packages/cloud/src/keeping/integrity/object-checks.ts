// The listing and the rows were read at different moments. So every mismatch is checked once more, the store first and then the rows: a row
// is deleted before its object, and an object exists before its row says so.

import type { Database } from "../../db/client.ts";
import { Prisma } from "../../db/generated/client.ts";
import { withTransaction } from "../../db/transaction.ts";
import { type MarkDeps, markDamaged } from "../../import-life/mark-damaged.ts";
import type { BlobStore } from "../../store/blobs/blob-store.ts";
import { findOwners } from "../sweep/find-owners.ts";
import { judgeObject } from "../sweep/judge-object.ts";
import type { Finding } from "./finding.ts";
import type { Session } from "./listed-objects.ts";
import { INDEX, type Promised, RECORDING, readPromised } from "./promised-objects.ts";
import { pagesOf } from "./suspects.ts";

const DAY_MS = 86_400_000;
/** Rows exist before bytes: an object that no row named for this long has no owner. */
const UNKNOWN_AGE_MS = 7 * DAY_MS;
/** The sweep removes what is a week old, once a day. */
export const LEFTOVER_AGE_MS = 9 * DAY_MS;

export interface ObjectCheck {
  readonly session: Session;
  readonly db: Pick<Database, "prisma">;
  readonly blobs: Pick<BlobStore, "stat">;
  readonly nowMs: number;
  /** Recordings whose data is not there are marked; a backup only reports them. */
  readonly mark?: MarkDeps;
  readonly isRepairing?: boolean;
}

/** Yields rows whose object does not exist or has another size. */
export async function* findMissingObjects(check: ObjectCheck): AsyncGenerator<Finding, void> {
  const isThere = Prisma.sql`l.key = p.key AND l."isWhole" AND (p."sizeBytes" IS NULL OR p."sizeBytes" = l."sizeBytes")`;
  const without = Prisma.sql`SELECT DISTINCT p.key FROM promised p WHERE NOT EXISTS (SELECT FROM listed l WHERE ${isThere})`;
  for await (const page of pagesOf<{ key: string }>(check.session, without)) {
    const keys = page.map(({ key }) => key);
    const stored = await Promise.all(keys.map((key) => check.blobs.stat(key)));
    const sizes = new Map(keys.map((key, at) => [key, stored[at]?.sizeBytes]));
    for (const promised of await readPromised(check.session, keys)) {
      const storedBytes = sizes.get(promised.key);
      const finding = compareSize(promised, storedBytes);
      if (!finding) continue;
      if (check.mark && promised.what === RECORDING)
        await markDamaged(check.mark, promised.key, storedBytes === undefined ? "missing" : "truncated");
      yield { ...finding, isRepaired: await remake(check, promised) };
    }
  }
}

function compareSize(promised: Promised, storedBytes: number | undefined): Finding | undefined {
  const { what, id, key, sizeBytes } = promised;
  if (storedBytes === undefined)
    return { kind: "missing object", subject: key, text: `it is not in the store; ${what} ${id} needs it` };
  if (sizeBytes === null || BigInt(storedBytes) === BigInt(sizeBytes)) return undefined;
  const text = `it has ${storedBytes} bytes instead of ${sizeBytes}; ${what} ${id} needs it`;
  return { kind: "wrong size", subject: key, text };
}

/** An index can be made of the data. Until a job has done so, exports use a temporary one. */
async function remake({ db, mark, isRepairing }: ObjectCheck, { what, id, orgId, key }: Promised): Promise<boolean> {
  if (!mark || !isRepairing || what !== INDEX) return false;
  return withTransaction(db, async (tx) => {
    const { count } = await tx.recording.updateMany({ where: { id, indexKey: key }, data: { indexKey: null } });
    if (count === 1) await mark.jobs.enqueueIndexing(tx, orgId, [id]);
    return count === 1;
  });
}

/** Yields objects that no row holds, once they are so old that no row will. */
export async function* findUnheldObjects(check: ObjectCheck): AsyncGenerator<Finding, void> {
  const isHeld = ["Recording.blobKey", "Recording.indexKey", "Recording.nextIndexKey", "ImportRequest.blobKey"]
    .concat("ImportRequest.indexKey", "ExtensionVersion.blobKey")
    .map((column) => column.split("."))
    .map(([table, column]) => Prisma.raw(`NOT EXISTS (SELECT FROM "${table}" r WHERE r."${column}" = l.key)`));
  const isOld = Prisma.sql`l."modifiedAtMs" < ${check.nowMs - UNKNOWN_AGE_MS}`;
  const unheld = Prisma.sql`SELECT l.* FROM listed l WHERE ${isOld} AND ${Prisma.join(isHeld, " AND ")}`;
  for await (const page of pagesOf<Listed>(check.session, unheld))
    for (const listed of page) {
      const finding = await judge(check, listed);
      if (finding) yield finding;
    }
}

interface Listed {
  readonly key: string;
  readonly isWhole: boolean;
  readonly sizeBytes: string;
  readonly modifiedAtMs: string;
}

async function judge({ db, blobs, nowMs }: ObjectCheck, listed: Listed): Promise<Finding | undefined> {
  const { key, isWhole } = listed;
  const object = { ...listed, sizeBytes: Number(listed.sizeBytes), modifiedAtMs: Number(listed.modifiedAtMs) };
  if (isWhole && !(await blobs.stat(key))) return undefined;
  const owners = (await findOwners(db.prisma, [key])).get(key)!;
  const isKnown = owners.uploadState !== null;
  const verdict = judgeObject(object, owners, nowMs - (isKnown ? LEFTOVER_AGE_MS : UNKNOWN_AGE_MS));
  if (verdict.kind === "keep") return undefined;
  const text = `${verdict.reason} (${object.sizeBytes} bytes)`;
  if (!isWhole) return { kind: "unfinished write", subject: key, text };
  return { kind: verdict.kind === "unknown" ? "object without row" : "leftover", subject: key, text };
}

/** An object belongs to one row, and its key begins with that row's organization. */
export async function* findMixedUp({ session }: ObjectCheck): AsyncGenerator<Finding, void> {
  const twice = Prisma.sql`SELECT key FROM promised GROUP BY key HAVING count(*) > 1`;
  const foreign = Prisma.sql`SELECT DISTINCT key FROM promised WHERE split_part(key, '/', 1) <> "orgId"`;
  for await (const page of pagesOf<{ key: string }>(session, Prisma.sql`${twice} UNION ${foreign}`)) {
    const promised = await readPromised(
      session,
      page.map(({ key }) => key),
    );
    for (const [key, holders] of Map.groupBy(promised, (one) => one.key)) yield* describeHolders(key, holders);
  }
}

function* describeHolders(key: string, holders: readonly Promised[]): Generator<Finding, void> {
  const names = holders.map(({ what, id }) => `${what} ${id}`).join(" and ");
  if (holders.length > 1) yield { kind: "held twice", subject: key, text: `${names} hold the same object` };
  const foreign = holders.filter(({ orgId }) => !key.startsWith(`${orgId}/`));
  for (const { what, id, orgId } of foreign)
    yield { kind: "wrong organization", subject: key, text: `${what} ${id} of organization ${orgId} holds it` };
}
