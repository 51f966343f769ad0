import type { Logger } from "pino";
import type { TransactionContext } from "../../background/jobs/transaction-context.ts";
import { forgetBucket } from "../../buckets/bucket-objects/forget-bucket.ts";
import { Prisma } from "../../db/generated/client.ts";
import { sqlState } from "../../db/sql-state.ts";
import { loseSiteData } from "../../fleet/sites/lose-site-data.ts";
import { forgetData } from "../../import-life/forget-data.ts";
import { findLocked } from "../../import-life/lock-recording.ts";

interface Entry {
  readonly id: string;
  readonly kind: string;
  readonly subject: string;
  readonly data: object;
}

type ReplayContext = TransactionContext & { readonly log: Pick<Logger, "warn"> };

/** The tables whose rows the ledger restores, each with the columns of its key; an entry names the first one. */
const keys: Readonly<Record<string, string>> = {
  Organization: "id",
  Project: "id",
  Site: "id",
  Device: "id",
  ApiKey: "id",
  DeviceToken: "id",
  SiteToken: "id",
  InboxToken: "id",
  Credential: "tokenSha256",
  Backup: "id",
  SiteBucket: "siteId",
  IngestPathPolicy: 'siteId", "revision',
  Webhook: "id",
  Member: "id",
  Account: "id",
  Invitation: "id",
};

/** With these errors Postgres refuses a row: its parent is missing, it is still referenced, or another row has its name. */
const IN_THE_WAY = new Set(["23503", "23505", "23001"]);

/** Repeats the change that the entry describes. A change that other rows do not allow is logged and left out. */
export async function applyEntry(context: ReplayContext, entry: Entry): Promise<void> {
  if (entry.kind === "Data.delete") return await deleteData(context, entry);
  if (entry.kind === "ProjectMembers.put") return await setProjectMembers(context, entry);
  const [table = "", change] = entry.kind.split(".");
  if (!(table in keys)) return;
  await context.tx.$executeRaw`SAVEPOINT entry`;
  try {
    if (change === "insert") await insertRow(context, table, entry);
    if (change === "update") await updateRow(context, table, entry);
    if (change === "delete") await deleteRow(context, table, entry);
  } catch (error) {
    if (!IN_THE_WAY.has(sqlState(error) ?? "")) throw error;
    await context.tx.$executeRaw`ROLLBACK TO SAVEPOINT entry`;
    await withdraw(context, table, { ...entry, isDeleted: change === "delete" });
    context.log.warn({ kind: entry.kind, subject: entry.subject }, "other rows do not allow what the ledger says");
  }
}

interface DeletedData {
  readonly blobKey: string | null;
  readonly siteObjectKey?: string | null;
  /** The row of an object in a customer's bucket. */
  readonly bucketObject?: object | null;
}

/** Deletes data only if it is in the object that was deleted, because data that came after the deletion was wanted. */
async function deleteData(context: ReplayContext, { id, subject, data }: Entry): Promise<void> {
  const { tx, jobs } = context;
  const { blobKey, siteObjectKey, bucketObject } = data as DeletedData;
  const recording = await findLocked(tx, subject);
  const present = recording?.blobKey ?? recording?.siteObjectKey ?? null;
  const isMeant = recording && (present === null || present === blobKey || present === siteObjectKey);
  if (isMeant) await forgetData(context, recording);
  if (blobKey !== null) await jobs.enqueue(tx, { name: "remove-object", data: { blobKey } });
  if (bucketObject) await restoreObject(context, id, bucketObject);
}

/** The listing of the customer's bucket knows again that this object was imported, whatever the backup says of it. */
async function restoreObject(context: ReplayContext, entryId: string, object: object): Promise<void> {
  const columns = await columnsOf(context, "BucketObject", object);
  const known = await context.tx.$executeRaw`
    UPDATE "BucketObject" o SET (${columns}) = (
      SELECT ${columns} FROM (
        SELECT r.* FROM "LedgerEntry" e, jsonb_populate_record(NULL::"BucketObject", e.data -> 'bucketObject') r WHERE e.id = ${entryId}
      ) r
    ) WHERE o.id = (SELECT e.data -> 'bucketObject' ->> 'id' FROM "LedgerEntry" e WHERE e.id = ${entryId})`;
  if (known > 0) return;
  await context.tx.$executeRaw`
    INSERT INTO "BucketObject" (${columns})
    SELECT ${columns} FROM (
      SELECT r.* FROM "LedgerEntry" e, jsonb_populate_record(NULL::"BucketObject", e.data -> 'bucketObject') r WHERE e.id = ${entryId}
    ) r
    WHERE EXISTS (SELECT FROM "Site" s WHERE s.id = r."siteId")
    ON CONFLICT ("siteId", name) WHERE "goneAtNs" IS NULL DO NOTHING`;
}

/** Returns the columns that the table has today: columns that were added later keep their defaults, and dropped ones are left out. */
async function columnsOf({ tx }: ReplayContext, table: string, data: object): Promise<Prisma.Sql> {
  const rows = await tx.$queryRaw<{ name: string }[]>`
    SELECT column_name AS name FROM information_schema.columns
    WHERE table_schema = current_schema() AND table_name = ${table} AND column_name = ANY(${Object.keys(data)})`;
  return Prisma.raw(rows.map(({ name }) => `"${name}"`).join(", "));
}

/** Reads the row from the ledger in SQL, because JavaScript would round its numbers. */
const rowOf = (table: string, id: string) =>
  Prisma.sql`FROM "LedgerEntry" e, jsonb_populate_record(NULL::${Prisma.raw(`"${table}"`)}, e.data) r WHERE e.id = ${id}`;

async function insertRow(context: ReplayContext, table: string, { id, data }: Entry): Promise<void> {
  const columns = await columnsOf(context, table, data);
  const into = Prisma.raw(`"${table}"`);
  const [key] = [Prisma.raw(`"${keys[table]}"`)];
  await context.tx.$executeRaw`
    INSERT INTO ${into} (${columns}) SELECT ${columns} FROM (SELECT r.* ${rowOf(table, id)}) r ON CONFLICT (${key}) DO NOTHING`;
}

async function updateRow(context: ReplayContext, table: string, { id, subject, data }: Entry): Promise<void> {
  const columns = await columnsOf(context, table, data);
  const [into, key] = [Prisma.raw(`"${table}"`), Prisma.raw(`"${keys[table]}"`)];
  await context.tx.$executeRaw`
    UPDATE ${into} SET (${columns}) = (SELECT ${columns} FROM (SELECT r.* ${rowOf(table, id)}) r) WHERE ${key} = ${subject}`;
}

async function deleteRow(context: ReplayContext, table: string, { subject }: Entry): Promise<void> {
  const { tx } = context;
  if (table === "Site") await loseWhatItHas(context, subject);
  const [from, key] = [Prisma.raw(`"${table}"`), Prisma.raw(`"${keys[table]}"`)];
  await tx.$executeRaw`DELETE FROM ${from} WHERE ${key} = ${subject}`;
}

/** A person who joined after the backup is no member after the restore, and is left out. */
async function setProjectMembers({ tx }: ReplayContext, { subject: projectId, data }: Entry): Promise<void> {
  const { memberIds } = data as { readonly memberIds: string[] };
  await tx.projectMember.deleteMany({ where: { projectId, memberId: { notIn: memberIds } } });
  await tx.$executeRaw`
    INSERT INTO "ProjectMember" ("projectId", "memberId")
    SELECT p.id, m.id FROM "Project" p JOIN "Member" m ON m."orgId" = p."orgId" WHERE p.id = ${projectId} AND m.id = ANY(${memberIds})
    ON CONFLICT DO NOTHING`;
}

/** Makes the data at a deleted site unavailable, as it was after the deletion. */
async function loseWhatItHas(context: ReplayContext, siteId: string): Promise<void> {
  const site = await context.tx.site.findUnique({ where: { id: siteId }, select: { type: true } });
  if (site?.type === "byob") await forgetBucket(context, siteId);
  if (site?.type === "self-hosted") await loseSiteData(context, siteId);
}

/** Disables a device that was deleted but that has recordings again, which were moved or deleted before the device was. */
async function withdraw({ tx }: ReplayContext, table: string, entry: Entry & { isDeleted: boolean }): Promise<void> {
  if (table !== "Device" || !entry.isDeleted) return;
  await tx.deviceToken.deleteMany({ where: { deviceId: entry.subject } });
  await tx.device.updateMany({ where: { id: entry.subject }, data: { enabled: false } });
}
