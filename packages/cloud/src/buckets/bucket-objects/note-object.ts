// An object of a customer's bucket is noted when a notification says that it was created, changed or deleted. The notification is not
// relied on, because it may be late, repeated or wrong. A job looks at the bucket, and what the bucket says at that moment counts.

import { isStorable } from "@downlink/protocol";
import type { TransactionContext } from "../../background/jobs/transaction-context.ts";
import { newId } from "../../db/ids.ts";

/** The owner of an object according to a notification. It overrides what the object and the file say. */
export interface OwnerHints {
  readonly deviceId?: string | undefined;
  readonly deviceName?: string | undefined;
  readonly projectId?: string | undefined;
}

export interface NotedObject {
  /** The object's whole name in the bucket. */
  readonly name: string;
  readonly hints?: OwnerHints | undefined;
}

export interface BucketSite {
  readonly orgId: string;
  readonly siteId: string;
}

/** The most bytes that the name of an object has in any bucket. */
const MAX_NAME_BYTES = 1024;

/** Says whether an object of a bucket can have this name and a database can store it. */
export function isObjectName(name: string): boolean {
  return name !== "" && isStorable(name) && Buffer.byteLength(name) <= MAX_NAME_BYTES;
}

/**
 * Notes objects in the caller's transaction, and queues a job for each that looks at it. Any number of notes that come before the look are
 * one. A name that no object can have is left alone, and of several notes of one name the last one counts.
 */
export async function noteObjects(
  context: TransactionContext,
  site: BucketSite,
  noted: readonly NotedObject[],
): Promise<void> {
  // In the order of their names, because two transactions that wait for each other's rows would never end.
  const byName = new Map(noted.filter(({ name }) => isObjectName(name)).map((one) => [one.name, one]));
  let left = [...byName.values()].sort(({ name: a }, { name: b }) => (a < b ? -1 : 1));
  // A row that another transaction replaces between the two statements is looked for again.
  for (let tries = 0; left.length > 0 && tries < MOST_TRIES; tries++) {
    const made = await insertNoted(context, site, left);
    left = dropDone(left, made);
    const again = await noteAgain(context, site, left);
    left = dropDone(left, again);
    const due = [...made, ...again.filter(({ wasDue }) => !wasDue)];
    const jobs = due.map(({ name }) => ({ ...site, name }));
    await context.jobs.enqueueAll(context.tx, "look-at-object", jobs);
  }
  if (left.length > 0)
    throw new Error(`object ${JSON.stringify(left[0]!.name)} of ${site.siteId} is replaced again and again`);
}

const MOST_TRIES = 5;

interface Due {
  readonly id: string;
  readonly name: string;
  /** A job is queued already that has not begun to look. */
  readonly wasDue: boolean;
}

function dropDone(all: readonly NotedObject[], done: readonly Due[]): NotedObject[] {
  const names = new Set(done.map(({ name }) => name));
  return all.filter(({ name }) => !names.has(name));
}

function insertNoted(
  { tx, nowNs }: TransactionContext,
  { orgId, siteId }: BucketSite,
  noted: readonly NotedObject[],
): Promise<Due[]> {
  return tx.$queryRaw<Due[]>`
    INSERT INTO "BucketObject" (id, "orgId", "siteId", name, state, "deviceId", "deviceName", "projectId", "createdAtNs", "updatedAtNs")
    SELECT id, ${orgId}, ${siteId}, name, 'noted', "deviceId", "deviceName", "projectId", ${nowNs}, ${nowNs}
    FROM json_populate_recordset(NULL::"BucketObject", ${toRows(noted)}::json)
    ON CONFLICT ("siteId", name) WHERE "goneAtNs" IS NULL DO NOTHING RETURNING id, name, false AS "wasDue"`;
}

/** Notes objects that have a row already. A part of the owner that an earlier note named stays if this note does not name it. */
function noteAgain(
  { tx, nowNs }: TransactionContext,
  { siteId }: BucketSite,
  noted: readonly NotedObject[],
): Promise<Due[]> {
  if (noted.length === 0) return Promise.resolve([]);
  return tx.$queryRaw<Due[]>`
    WITH given AS (SELECT * FROM json_populate_recordset(NULL::"BucketObject", ${toRows(noted)}::json)),
    before AS (
      SELECT o.id, o."isDue", g."deviceId", g."deviceName", g."projectId"
      FROM "BucketObject" o JOIN given g ON g.name = o.name
      WHERE o."siteId" = ${siteId} AND o."goneAtNs" IS NULL ORDER BY o.name FOR NO KEY UPDATE OF o)
    UPDATE "BucketObject" o SET "isDue" = true, "updatedAtNs" = ${nowNs},
      "deviceId" = coalesce(before."deviceId", o."deviceId"), "deviceName" = coalesce(before."deviceName", o."deviceName"),
      "projectId" = coalesce(before."projectId", o."projectId")
    FROM before WHERE o.id = before.id RETURNING o.id, o.name, before."isDue" AS "wasDue"`;
}

function toRows(noted: readonly NotedObject[]): string {
  return JSON.stringify(noted.map(({ name, hints }) => ({ id: newId("obj"), name, ...hints })));
}
