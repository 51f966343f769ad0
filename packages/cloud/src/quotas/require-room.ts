// Bytes are those of the files of recordings, of imports that are under way or can be retried, of uploads that have
// begun, and of extension packages; recordings are those with data. Both are looked at before the first byte of a
// file, without a lock: files that begin in the same moment may go beyond it together, and what has begun is brought
// to its end. A file whose length nobody said is counted while it comes (`withinRoom` in `quotas/require-room.ts`),
// refused once it is more than there is room for, and leaves nothing.
//
// Exports at once are counted in each process, with those that wait for their turn. Their figure stands in the link,
// because the stream asks no database.

import { ApiError } from "../core/errors.ts";
import type { Database } from "../db/client.ts";
import { parameter, prepare } from "../db/prepared.ts";
import type { Transaction } from "../db/transaction.ts";

/** What a deployment allows an organization; null: any. */
export interface Quotas {
  readonly maxStoredBytes: bigint | null;
  readonly maxRecordings: number | null;
  readonly maxExports: number | null;
}

export interface Usage {
  /** Of the files of recordings, of those that are being imported or wait for a retry, of uploads that have begun, and of extensions. */
  readonly storedBytes: bigint;
  /** With data. */
  readonly recordings: bigint;
}

/** Somebody has to delete something first. */
const RETRY_AFTER_SECONDS = 60;

type Reader = Pick<Transaction, "organization" | "$queryRaw">;

const quotaColumns = { maxStoredBytes: true, maxRecordings: true, maxExports: true } as const;

export function readQuotas(db: Reader, orgId: string): Promise<Quotas> {
  return db.organization.findUniqueOrThrow({ where: { id: orgId }, select: quotaColumns });
}

/** The same outside of a transaction. */
export async function quotasOf(db: Pick<Database, "pool">, orgId: string): Promise<Quotas> {
  const [quotas] = await selectQuotas(db, [orgId]);
  return quotas!; // nobody calls of an organization that is not there
}

const selectQuotas = prepare((db) =>
  db
    .selectFrom("Organization")
    .select(["maxStoredBytes", "maxRecordings", "maxExports"])
    .where("id", "=", parameter<string>(1)),
);

/**
 * Refuses one more file that the organization has no room for. Looked at before its bytes come, and without a lock: files that begin
 * in the same moment may go beyond it together.
 */
export async function requireRoom(db: Reader, orgId: string, fileBytes: bigint): Promise<void> {
  await requireRoomWithin(db, await readQuotas(db, orgId), { orgId, fileBytes });
}

export async function requireRoomWithin(
  db: Reader,
  { maxStoredBytes, maxRecordings }: Quotas,
  { orgId, fileBytes }: { orgId: string; fileBytes: bigint },
): Promise<void> {
  if (maxStoredBytes === null && maxRecordings === null) return;
  const { storedBytes, recordings } = await readUsage(db, orgId);
  if (maxRecordings !== null && recordings >= maxRecordings)
    throw quotaReached(`has ${recordings} of ${maxRecordings} recordings with data`);
  requireBytes({ storedBytes, maxStoredBytes }, fileBytes);
}

/** As {@link requireRoom}, for a file that is no recording's. */
export async function requireRoomForBytes(db: Reader, orgId: string, fileBytes: bigint): Promise<void> {
  const { maxStoredBytes } = await readQuotas(db, orgId);
  if (maxStoredBytes === null) return;
  requireBytes({ storedBytes: (await readUsage(db, orgId)).storedBytes, maxStoredBytes }, fileBytes);
}

type Room = Pick<Usage, "storedBytes"> & Pick<Quotas, "maxStoredBytes">;

function requireBytes({ storedBytes, maxStoredBytes }: Room, fileBytes: bigint): void {
  if (maxStoredBytes === null || storedBytes + fileBytes <= maxStoredBytes) return;
  const file = `this file has ${fileBytes === 1n ? "more" : fileBytes}`;
  throw quotaReached(`stores ${storedBytes} of ${maxStoredBytes} bytes, and ${file}`, 507);
}

/** So many bytes come between two looks at what the organization stores. */
const STEP_BYTES = 64n * 1024n * 1024n;

interface Receiver {
  readonly db: Reader;
  readonly orgId: string;
  /** Tells how many bytes have come, so that they count for others; absent: they do not before the file's end. */
  readonly note?: (receivedBytes: bigint) => Promise<unknown>;
}

/**
 * The pieces of a body whose length nobody said. Throws `QuotaReached` once they are more than the organization has room for. What
 * others store meanwhile is seen every 64 MiB. An organization that has no limit when it begins is asked nothing.
 */
export async function* withinRoom(body: AsyncIterable<Uint8Array>, receiver: Receiver): AsyncGenerator<Uint8Array> {
  const { maxStoredBytes } = await readQuotas(receiver.db, receiver.orgId);
  let receivedBytes = 0n;
  let notedBytes = 0n;
  let grantedBytes = 0n;
  for await (const piece of body) {
    receivedBytes += BigInt(piece.byteLength);
    if (maxStoredBytes !== null && receivedBytes > grantedBytes) {
      const othersBytes = (await readUsage(receiver.db, receiver.orgId)).storedBytes - notedBytes;
      const room = maxStoredBytes - othersBytes;
      if (receivedBytes > room)
        throw quotaReached(
          `stores ${othersBytes} of ${maxStoredBytes} bytes, and of this file ${receivedBytes} have come`,
          507,
        );
      if (receiver.note) {
        await receiver.note(receivedBytes);
        notedBytes = receivedBytes;
      }
      grantedBytes = room < receivedBytes + STEP_BYTES ? room : receivedBytes + STEP_BYTES;
    }
    yield piece;
  }
}

export function quotaReached(how: string, status?: 507): ApiError {
  return new ApiError("QuotaReached", `the organization ${how}`, { status, retryAfterSeconds: RETRY_AFTER_SECONDS });
}

export async function readUsage(db: Reader, orgId: string): Promise<Usage> {
  const [usage] = await db.$queryRaw<[Usage]>`
    SELECT recordings, (r.bytes + i.bytes + u.bytes + e.bytes)::bigint AS "storedBytes"
    FROM (SELECT count(*) AS recordings, coalesce(sum("sizeBytes"), 0) AS bytes
          FROM "Recording" WHERE "orgId" = ${orgId} AND "blobKey" IS NOT NULL) r,
         (SELECT coalesce(sum("sizeBytes"), 0) AS bytes
          FROM "ImportRequest" WHERE "orgId" = ${orgId} AND "blobKey" IS NOT NULL) i,
         (SELECT coalesce(sum("sizeBytes"), 0) AS bytes
          FROM "Upload" WHERE "orgId" = ${orgId} AND state = 'open') u,
         (SELECT coalesce(sum(v."sizeBytes"), 0) AS bytes
          FROM "ExtensionVersion" v JOIN "Extension" x ON x.id = v."extensionId" WHERE x."orgId" = ${orgId}) e`;
  return usage;
}
