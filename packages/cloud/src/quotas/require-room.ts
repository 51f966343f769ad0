import type { Transaction } from "../db/transaction.ts";
import { ApiError } from "../http/errors.ts";

/** What a deployment allows an organization; null: any. */
export interface Quotas {
  readonly maxStoredBytes: bigint | null;
  readonly maxRecordings: number | null;
  readonly maxExports: number | null;
}

export interface Usage {
  /** Of the files of recordings, of those that are being imported or wait for a retry, and of uploads that have begun. */
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

/**
 * Refuses one more file that the organization has no room for. Looked at before its bytes come, and without a lock: files that begin
 * in the same moment may go beyond it together.
 */
export async function requireRoom(db: Reader, orgId: string, fileBytes: bigint): Promise<void> {
  const { maxStoredBytes, maxRecordings } = await readQuotas(db, orgId);
  if (maxStoredBytes === null && maxRecordings === null) return;
  const { storedBytes, recordings } = await readUsage(db, orgId);
  if (maxRecordings !== null && recordings >= maxRecordings)
    throw quotaReached(`has ${recordings} of ${maxRecordings} recordings with data`);
  if (maxStoredBytes !== null && storedBytes + fileBytes > maxStoredBytes)
    throw quotaReached(
      `stores ${storedBytes} of ${maxStoredBytes} bytes, and this file has ${fileBytes === 1n ? "more" : fileBytes}`,
      507,
    );
}

export function quotaReached(how: string, status?: 507): ApiError {
  return new ApiError("QuotaReached", `the organization ${how}`, { status, retryAfterSeconds: RETRY_AFTER_SECONDS });
}

export async function readUsage(db: Reader, orgId: string): Promise<Usage> {
  const [usage] = await db.$queryRaw<[Usage]>`
    SELECT recordings, (r.bytes + i.bytes + u.bytes)::bigint AS "storedBytes"
    FROM (SELECT count(*) AS recordings, coalesce(sum("sizeBytes"), 0) AS bytes
          FROM "Recording" WHERE "orgId" = ${orgId} AND "blobKey" IS NOT NULL) r,
         (SELECT coalesce(sum("sizeBytes"), 0) AS bytes
          FROM "ImportRequest" WHERE "orgId" = ${orgId} AND "blobKey" IS NOT NULL) i,
         (SELECT coalesce(sum("sizeBytes"), 0) AS bytes
          FROM "Upload" WHERE "orgId" = ${orgId} AND state = 'open') u`;
  return usage;
}
