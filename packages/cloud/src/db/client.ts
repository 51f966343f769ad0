import { PrismaPg } from "@prisma/adapter-pg";
import { Kysely, PostgresDialect } from "kysely";
import type pg from "pg";
import { type Prisma, PrismaClient } from "./generated/client.ts";
import type { DB } from "./generated/tables.ts";
import { kyselyPool } from "./kysely-pool.ts";
import { ObservedPool } from "./observed-pool.ts";
import { SequentialClient } from "./sequential-client.ts";

/** Two query layers over one pool: Prisma, and Kysely where a query is hot, dynamic or beyond Prisma. */
export interface Database {
  readonly prisma: PrismaClient;
  readonly kysely: Kysely<DB>;
  readonly pool: pg.Pool;
  /** There while all of it is one transaction: what is begun as another is a part of that. */
  readonly tx?: Prisma.TransactionClient;
}

interface DatabaseOptions {
  readonly maxConnections: number;
  readonly log: { warn(details: object, message: string): void };
}

const CONNECT_TIMEOUT_MS = 10_000;
const IDLE_CONNECTION_MS = 30_000;
/** No statement of ours takes as long; one that does has lost its plan, and holds a connection that others need. */
const STATEMENT_TIMEOUT_MS = 60_000;
/**
 * The memory of each sort or bitmap. With the server's 4 MB, a bitmap of 100,000 rows keeps whole pages instead,
 * which are all read again.
 */
const WORK_MEMORY = "16MB";
/** Above what a transaction may take by itself: this ends those whose process hangs. */
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 90_000;

/** The only place that makes the pool, and Prisma and Kysely over it. Disposing ends every connection. */
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
  pool.on("error", (error) => log.warn({ err: error }, "an idle database connection was lost"));
  // The pool hears of idle connections only; a lost one that is in use would end the process. Its query fails anyway.
  pool.on("connect", (client) => client.on("error", () => {}));
  const prisma = new PrismaClient({ adapter: new PrismaPg(pool) });
  const kysely = new Kysely<DB>({ dialect: new PostgresDialect({ pool: kyselyPool(pool) }) });
  return {
    prisma,
    kysely,
    pool,
    async [Symbol.asyncDispose]() {
      await kysely.destroy();
      await prisma.$disconnect();
      await pool.end();
    },
  };
}
