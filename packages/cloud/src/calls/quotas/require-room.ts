// Stored bytes and recordings are checked before the first byte of a file; a file of unknown length is counted while it arrives.
// Simultaneous exports are counted in each process, with those that wait for their turn. Their limit is part of the link, because the
// stream reads no database.

import { ApiError } from "../../core/errors.ts";
import type { Database } from "../../db/client.ts";
import { type Parameters, prepare } from "../../db/prepared.ts";
import type { Transaction } from "../../db/transaction.ts";

/** The limits that a deployment sets for an organization; null: no limit. */
export interface Quotas {
  readonly maxStoredBytes: bigint | null;
  readonly maxRecordings: number | null;
  readonly maxExports: number | null;
  readonly maxMembers: number | null;
}

export interface Usage {
  /** The files of recordings, of those that are being imported or wait for a retry, of uploads that have begun, of extensions and of training sets. */
  readonly storedBytes: bigint;
  /** The number of recordings with data. */
  readonly recordings: bigint;
}

/** Something has to be deleted first. */
const RETRY_AFTER_SECONDS = 60;

type Reader = Pick<Transaction, "organization" | "$queryRaw">;

const quotaColumns = { maxStoredBytes: true, maxRecordings: true, maxExports: true, maxMembers: true } as const;

export function readQuotas(db: Reader, orgId: string): Promise<Quotas> {
  return db.organization.findUniqueOrThrow({ where: { id: orgId }, select: quotaColumns });
}

/** Reads the same outside of a transaction. */
export async function quotasOf(db: Pick<Database, "pool">, orgId: string): Promise<Quotas> {
  const [quotas] = await selectQuotas(db, { orgId });
  return quotas!; // callers belong to an organization that exists
}

const selectQuotas = prepare((db, { orgId }: Parameters<{ orgId: string }>) =>
  db
    .selectFrom("Organization")
    .select(["maxStoredBytes", "maxRecordings", "maxExports", "maxMembers"])
    .where("id", "=", orgId),
);

/**
 * Refuses one more file that the organization has no room for. This is checked before its bytes arrive, and without a lock: files that
 * begin at the same moment may exceed the limit together, and an upload that has begun is finished.
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

/**
 * Says whether the organization may have one more recording of an object in a customer's bucket. Imports that wait count, too, and objects
 * are decided on one at a time, because a listing finds any number of them at the same moment, and there is no caller to refuse.
 */
export async function hasRoomForObject(tx: Transaction, orgId: string): Promise<boolean> {
  const { maxRecordings } = await readQuotas(tx, orgId);
  if (maxRecordings === null) return true;
  await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended(${orgId}, 2))`;
  const { recordings } = await readUsage(tx, orgId);
  const [{ waiting }] = await tx.$queryRaw<[{ waiting: bigint }]>`
    SELECT count(*) AS waiting FROM "ImportRequest" WHERE "orgId" = ${orgId} AND source = 'bucket' AND "recordingId" IS NULL
      AND state IN ('received', 'processing', 'ready for indexing')`;
  return recordings + waiting < maxRecordings;
}

/** Refuses one more member. The caller holds the organization's members, so that two who join at the same moment count each other. */
export async function requireRoomForMember(tx: Transaction, orgId: string): Promise<void> {
  const { maxMembers } = await readQuotas(tx, orgId);
  if (maxMembers === null) return;
  const members = await tx.member.count({ where: { orgId } });
  if (members >= maxMembers) throw quotaReached(`has ${members} of ${maxMembers} members`);
}

/** Does what {@link requireRoom} does, for a file that belongs to no recording. */
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

/** The number of bytes between two checks of what the organization stores. */
const STEP_BYTES = 64n * 1024n * 1024n;

interface Receiver {
  readonly db: Reader;
  readonly orgId: string;
  /** Notes how many bytes have arrived, so that they count for others; absent: they do not count before the file's end. */
  readonly note?: (receivedBytes: bigint) => Promise<unknown>;
}

/**
 * Yields the pieces of a body of unknown length. Throws `QuotaReached` once they exceed the organization's room, and then the caller leaves
 * nothing of them. The bytes that other calls store meanwhile are checked every 64 MiB. If the organization has no limit at the beginning,
 * nothing is checked.
 */
export async function* limitToRoom(body: AsyncIterable<Uint8Array>, receiver: Receiver): AsyncGenerator<Uint8Array> {
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
    SELECT recordings, (r.bytes + i.bytes + u.bytes + e.bytes + t.bytes)::bigint AS "storedBytes"
    FROM (SELECT count(*) FILTER (WHERE location IS NULL OR "importStatus" = 'complete') AS recordings, coalesce(sum("sizeBytes") FILTER (WHERE location IS NULL), 0) AS bytes
          FROM "Recording" WHERE "orgId" = ${orgId} AND "blobKey" IS NOT NULL) r,
         (SELECT coalesce(sum("sizeBytes"), 0) AS bytes
          FROM "ImportRequest" WHERE "orgId" = ${orgId} AND "blobKey" IS NOT NULL AND source <> 'bucket') i,
         (SELECT coalesce(sum("sizeBytes"), 0) AS bytes
          FROM "Upload" WHERE "orgId" = ${orgId} AND state = 'open') u,
         (SELECT coalesce(sum(v."sizeBytes"), 0) AS bytes
          FROM "ExtensionVersion" v JOIN "Extension" x ON x.id = v."extensionId" WHERE x."orgId" = ${orgId}) e,
         (SELECT coalesce(sum("sizeBytes"), 0) AS bytes
          FROM "TrainingSet" WHERE "orgId" = ${orgId} AND state IN ('building', 'ready')) t`;
  return usage;
}
