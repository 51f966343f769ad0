// A notification is written down before it is answered: its id, so that it is recognized for a week, and the job that looks at the object,
// in one transaction. Its statement about the object is only a hint, because notifications come late, twice and in any order: the job asks
// the bucket.

import { createHash } from "node:crypto";
import type { SiteType } from "@downlink/protocol";
import { contextOf, type TransactionContext } from "../../background/jobs/transaction-context.ts";
import type { Deps } from "../../calls/context/context.ts";
import type { InboxCaller } from "../../core/callers.ts";
import { refuse, throwNotFound } from "../../core/errors.ts";
import { onForeignKeyViolation } from "../../db/sql-state.ts";
import { type Transaction, withTransaction } from "../../db/transaction.ts";
import { isObjectName, noteObjects } from "../bucket-objects/note-object.ts";
import type { ObjectNotification } from "./object-notification.ts";

type ReceiveDeps = Pick<Deps, "db" | "jobs" | "clock" | "metrics">;

/** So many are written in one transaction: a message may hold thousands, and others want connections too. */
const AT_ONCE = 500;

/** The bucket whose notifications a token is for. */
export interface NotifiedBucket {
  readonly siteId: string;
  readonly orgId: string;
  readonly provider: string;
  readonly bucket: string;
  readonly prefix: string;
  readonly azureStorageAccountName: string | null;
}

/** Finds the bucket of the site that the token is for. Throws 409 for a site that has none. */
export async function findNotifiedBucket({ db }: Pick<Deps, "db">, caller: InboxCaller): Promise<NotifiedBucket> {
  const { siteId, orgId } = caller;
  const site = await db.prisma.site.findFirst({ where: { id: siteId, orgId }, include: { bucket: true } });
  if (!site) return throwNotFound(`site ${siteId}`);
  if (!site.bucket) return refuse("Conflict", explainNoBucket(site.name, site.type as SiteType));
  return { ...site.bucket, orgId };
}

function explainNoBucket(name: string, type: SiteType): string {
  if (type === "byob") return `site "${name}" has no bucket yet; its operator sets it`;
  return `site "${name}" is ${type}: only a site that is a customer's own bucket takes notifications`;
}

/** Returns what keeps a notification from being one of this bucket's, in a sentence. */
export function findMismatch(bucket: NotifiedBucket, notification: ObjectNotification): string | undefined {
  const { providers, bucketName, azureStorageAccountName: account } = notification;
  if (!providers.some((provider) => provider === bucket.provider))
    return `the site's storage provider is ${bucket.provider}, not ${providers.join(" or ")}`;
  if (bucketName !== bucket.bucket) return `the site's bucket is not "${bucketName}"`;
  if (bucket.provider === "azure" && account !== bucket.azureStorageAccountName)
    return `the site's storage account is not "${account}"`;
  return undefined;
}

interface Received {
  readonly notifications: readonly ObjectNotification[];
  /** Called before each transaction. */
  readonly takeTurn?: () => Promise<Disposable>;
}

/**
 * Writes down the notifications that did not come before and queues a look at each of their objects. Those of another bucket, or of names
 * that the site does not cover, are dropped; the answers to their senders do not tell them apart, because sending them again would not help.
 */
export async function receiveNotifications(
  deps: ReceiveDeps,
  bucket: NotifiedBucket,
  { notifications, takeTurn }: Received,
): Promise<void> {
  const covered = notifications.filter((one) => !findMismatch(bucket, one) && isCovered(bucket, one));
  const outcomes = deps.metrics.bucketNotifications;
  outcomes.inc({ outcome: "elsewhere" }, notifications.length - covered.length);
  for (let at = 0; at < covered.length; at += AT_ONCE) {
    const some = covered.slice(at, at + AT_ONCE);
    using _turn = await takeTurn?.();
    const fresh = await withTransaction(deps.db, (tx) => acceptFresh(contextOf(tx, deps), bucket, some)).catch(
      onForeignKeyViolation(() => throwNotFound(`site ${bucket.siteId}`)),
    );
    outcomes.inc({ outcome: "accepted" }, fresh);
    outcomes.inc({ outcome: "repeated" }, some.length - fresh);
  }
}

function isCovered({ prefix }: NotifiedBucket, { fileName }: ObjectNotification): boolean {
  return isObjectName(fileName) && fileName.startsWith(prefix);
}

/** Returns how many are new. They are sorted, because two senders that wait for each other's rows would never end. */
async function acceptFresh(
  context: TransactionContext,
  { siteId, orgId }: NotifiedBucket,
  notifications: readonly ObjectNotification[],
): Promise<number> {
  const byId = new Map(notifications.map((notification) => [sha256(notification.messageId), notification]));
  const ids = [...byId.keys()].sort();
  const fresh = await insertFresh(context.tx, { siteId, ids, nowNs: context.nowNs });
  const noted = fresh.map((id) => byId.get(id)!).map(({ fileName: name, hints }) => ({ name, hints }));
  await noteObjects(context, { siteId, orgId }, noted);
  return fresh.length;
}

interface Fresh {
  readonly siteId: string;
  readonly ids: readonly string[];
  readonly nowNs: bigint;
}

async function insertFresh(tx: Transaction, { siteId, ids, nowNs }: Fresh): Promise<string[]> {
  const data = ids.map((messageSha256) => ({ siteId, messageSha256, receivedAtNs: nowNs }));
  const select = { messageSha256: true };
  const rows = await tx.bucketNotification.createManyAndReturn({ data, skipDuplicates: true, select });
  return rows.map(({ messageSha256 }) => messageSha256);
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
