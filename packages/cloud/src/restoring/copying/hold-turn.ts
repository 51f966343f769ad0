import type pg from "pg";
import { Prisma } from "../../db/generated/client.ts";
import { CopyError } from "./copy-errors.ts";

/** The first of the two numbers of an advisory lock of Postgres is that of `recovery/removals-held.ts`. */
const COPIES = 72707370;
const ONE_COPY = 3;

/** One command copies at a time. The lock is that of a connection, so that it ends with this process. */
export async function holdTurn(pool: pg.Pool): Promise<AsyncDisposable> {
  const client = await pool.connect();
  const { rows } = await client.query<{ isMine: boolean }>(
    Prisma.sql`SELECT pg_try_advisory_lock(${COPIES}, ${ONE_COPY}) AS "isMine"`,
  );
  if (!rows[0]!.isMine) {
    client.release();
    throw new CopyError("another command copies to another store at this moment");
  }
  return {
    async [Symbol.asyncDispose]() {
      await client.query(Prisma.sql`SELECT pg_advisory_unlock_all()`).catch(() => {}); // a lost connection holds no lock
      client.release(true);
    },
  };
}
