// Tries that failed are counted in the database, for all processes together: for an account from one address, for an account from
// everywhere, and for an address. A count ends a fixed time after its first try. The keys are hashes, so that no e-mail address that a
// stranger typed is kept.

import type { Database } from "../../db/client.ts";
import { Prisma } from "../../db/generated/client.ts";
import { newPoolReader, writeSql } from "../../db/read-sql.ts";
import { hashToken } from "../credentials/mint.ts";

type Db = Pick<Database, "pool">;

export interface Count {
  readonly count: number;
  readonly endsAtNs: bigint;
}

interface Row extends Count {
  readonly key: string;
}

/** Which tries are counted, when, and for how long from the first one. */
export interface Counting {
  readonly keys: readonly string[];
  readonly nowNs: bigint;
  readonly lifeNs: bigint;
}

/** Returns the counts of these keys, in their order. */
export async function readTries(db: Db, { keys, nowNs }: Omit<Counting, "lifeNs">): Promise<Count[]> {
  const hashed = keys.map(hashToken);
  const rows = await newPoolReader(db)<Row>(
    Prisma.sql`SELECT * FROM "FailedTry" WHERE key = ANY (${hashed}) AND "endsAtNs" > ${nowNs}`,
  );
  return sortByKeys(hashed, rows);
}

/** Adds one to the count of each key, and returns the counts in the order of the keys. All writers lock rows in the same order. */
export async function addTries(db: Db, { keys, nowNs, lifeNs }: Counting): Promise<Count[]> {
  const hashed = keys.map(hashToken);
  const rows = await newPoolReader(db)<Row>(Prisma.sql`
    INSERT INTO "FailedTry" AS t (key, count, "endsAtNs")
    SELECT key, 1, ${nowNs + lifeNs} FROM unnest(${hashed}::text[]) AS key ORDER BY key
    ON CONFLICT (key) DO UPDATE SET
      count = CASE WHEN t."endsAtNs" > ${nowNs} THEN t.count + 1 ELSE 1 END,
      "endsAtNs" = CASE WHEN t."endsAtNs" > ${nowNs} THEN t."endsAtNs" ELSE excluded."endsAtNs" END
    RETURNING key, count, "endsAtNs"`);
  await forgetSome(db, nowNs);
  return sortByKeys(hashed, rows);
}

/** Takes one off the count of each key, for a try that did not fail. */
export async function takeTriesBack(db: Db, { keys, nowNs }: Omit<Counting, "lifeNs">): Promise<void> {
  const hashed = keys.map(hashToken);
  await writeSql(
    db,
    Prisma.sql`
      WITH held AS (
        SELECT key FROM "FailedTry" WHERE key = ANY (${hashed}) AND "endsAtNs" > ${nowNs} AND count > 0 ORDER BY key FOR NO KEY UPDATE)
      UPDATE "FailedTry" t SET count = t.count - 1 FROM held WHERE t.key = held.key`,
  );
}

/** Removes more rows than a try adds, so that a flood leaves none behind. */
async function forgetSome(db: Db, nowNs: bigint): Promise<void> {
  await writeSql(
    db,
    Prisma.sql`
      DELETE FROM "FailedTry" WHERE key IN (
        SELECT key FROM "FailedTry" WHERE "endsAtNs" <= ${nowNs} ORDER BY "endsAtNs" LIMIT 10 FOR UPDATE SKIP LOCKED)`,
  );
}

function sortByKeys(keys: readonly string[], rows: readonly Row[]): Count[] {
  return keys.map((key) => rows.find((row) => row.key === key) ?? { count: 0, endsAtNs: 0n });
}
