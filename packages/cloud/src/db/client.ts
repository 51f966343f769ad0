import { PrismaPg } from "@prisma/adapter-pg";
import type pg from "pg";
import { type Prisma, PrismaClient } from "./generated/client.ts";
import { ObservedPool } from "./observed-pool.ts";
import { SequentialClient } from "./sequential-client.ts";

/** Prisma over a pool, and the pool for the statements that Prisma does not write (`db/prepared.ts`, `db/read-sql.ts`). */
export interface Database {
  readonly prisma: PrismaClient;
  readonly pool: pg.Pool;
  /** Present if everything is one transaction: what begins another transaction becomes a part of it. */
  readonly tx?: Prisma.TransactionClient;
}

interface DatabaseOptions {
  readonly maxConnections: number;
  readonly log: { warn(details: object, message: string): void };
}

const CONNECT_TIMEOUT_MS = 10_000;
const IDLE_CONNECTION_MS = 30_000;
/** No good statement takes this long; one that does has a wrong plan, and holds a connection that others need. */
const STATEMENT_TIMEOUT_MS = 60_000;
/**
 * The memory of each sort or bitmap. With the server's 4 MB, a bitmap of 100,000 rows keeps whole pages instead of rows, which are then all
 * read again.
 */
const WORK_MEMORY = "16MB";
/**
 * This ends transactions whose process hangs, so that others wait no longer than this for the locks that they hold. A transaction that waits
 * for something else than its own statements, and must not be ended, sets a limit of its own.
 */
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 20_000;
/** A process that stops gives its last queries so long. After that their connections are cut: they may wait for a process that hangs. */
const LAST_QUERIES_MS = 1000;

/** Only this function makes the pool, and Prisma over it. Disposing ends every connection. */
export function openDatabase(url: string, { maxConnections, log }: DatabaseOptions): Database & AsyncDisposable {
  const pool = new ObservedPool({
    Client: SequentialClient,
    connectionString: url,
    max: maxConnections,
    application_name: "downlink",
    keepAlive: true,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    idleTimeoutMillis: IDLE_CONNECTION_MS,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_TIMEOUT_MS,
    options: `-c work_mem=${WORK_MEMORY}`,
  });
  pool.on("error", ({ message }) => {
    // A pool ends before its connections do, and a server that stops meanwhile still tells them so.
    if (!pool.ending) log.warn({ reason: message }, "an idle database connection was lost");
  });
  const connections = new Set<pg.PoolClient>();
  pool.on("connect", (client) => {
    connections.add(client);
    client.once("end", () => connections.delete(client));
  });
  // Prisma's own limit of five seconds is shorter than a statement of a transaction may take; `db/transaction.ts` gives others.
  const prisma = new PrismaClient({
    adapter: new PrismaPg(pool),
    transactionOptions: { timeout: STATEMENT_TIMEOUT_MS },
  });
  return {
    prisma,
    pool,
    async [Symbol.asyncDispose]() {
      const cutting = setInterval(() => cut(connections), LAST_QUERIES_MS);
      await prisma.$disconnect();
      await pool.end();
      clearInterval(cutting);
    },
  };
}

/** pg drops a connection whose query is under way without waiting for the answer. */
function cut(connections: Iterable<pg.PoolClient>): void {
  for (const client of connections) void client.end().catch(() => {});
}
