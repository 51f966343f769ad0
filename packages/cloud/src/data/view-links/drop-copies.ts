import type { Deps } from "../../calls/context/context.ts";
import { Prisma } from "../../db/generated/client.ts";
import type { ViewLinkModel } from "../../db/generated/models.ts";
import { type Transaction, withTransaction } from "../../db/transaction.ts";

/** All copies of the deployment together. */
const MAX_COPY_BYTES = 100n * 1024n ** 3n;

type Copied = Pick<ViewLinkModel, "isCopy" | "blobKey">;

/**
 * Ends the links to some copies where all copies together have become too large. The organizations that have copies share the room equally:
 * a copy is beyond its organization's share if it needs more than that together with those that were read later. Such copies are dropped
 * in the order in which they were read, until the rest fits; the one that was just made stays.
 */
export async function dropUnread(
  { db, jobs, clock }: Pick<Deps, "db" | "jobs" | "clock">,
  madeId: string,
): Promise<void> {
  const limit = Prisma.sql`${MAX_COPY_BYTES}::bigint`;
  await withTransaction(db, async (tx) => {
    const dropped = await tx.$queryRaw<Copied[]>`
      WITH copy AS (
        SELECT id, "orgId", "sizeBytes", "lastReadAtNs",
          sum("sizeBytes") OVER (PARTITION BY "orgId" ORDER BY "lastReadAtNs" DESC, id DESC) AS "filledBytes"
        FROM "ViewLink" WHERE "isCopy" AND "expiresAtNs" > ${clock.nowNs()}
      ), room AS (
        SELECT ${limit} / greatest(1, count(DISTINCT "orgId")) AS "shareBytes", sum("sizeBytes") - ${limit} AS "excessBytes"
        FROM copy
      ), beyond AS (
        SELECT id, sum("sizeBytes") OVER (ORDER BY "lastReadAtNs", id) - "sizeBytes" AS "earlierBytes"
        FROM copy, room WHERE "filledBytes" > "shareBytes" AND id <> ${madeId}
      )
      DELETE FROM "ViewLink" USING beyond, room
      WHERE "ViewLink".id = beyond.id AND "earlierBytes" < "excessBytes"
      RETURNING "isCopy", "blobKey"`;
    for (const copy of dropped) await removeCopy(tx, { jobs }, copy);
  });
}

/** Removes the copy of a link that has ended before its time. */
export async function removeCopy(
  tx: Transaction,
  { jobs }: Pick<Deps, "jobs">,
  { isCopy, blobKey }: Copied,
): Promise<void> {
  if (isCopy && blobKey !== null) await jobs.enqueue(tx, { name: "remove-object", data: { blobKey }, delaySeconds: 0 });
}
