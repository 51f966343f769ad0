import type pg from "pg";
import { CopyError } from "./copy-errors.ts";

/** The two numbers of an advisory lock of Postgres; the first one is that of `calls/recovery/removals-held.ts`. */
const ONE_COPY = [72707370, 3];

/** One command copies at a time. The lock is that of a connection, so that it ends with this process. */
export async function holdTurn(pool: pg.Pool): Promise<AsyncDisposable> {
  const client = await pool.connect();
  const { rows } = await client.query<{ isMine: boolean }>(`SELECT pg_try_advisory_lock($1, $2) AS "isMine"`, ONE_COPY);
  if (!rows[0]!.isMine) {
    client.release();
    throw new CopyError("another command copies to another store at this moment");
  }
  return {
    async [Symbol.asyncDispose]() {
      await client.query("SELECT pg_advisory_unlock_all()").catch(() => {}); // a lost connection holds no lock
      client.release(true);
    },
  };
}
