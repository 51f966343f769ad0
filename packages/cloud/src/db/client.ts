import { PrismaPg } from "@prisma/adapter-pg";
import { Pool } from "pg";
import type { Logger } from "pino";
import { PrismaClient } from "./generated/client.ts";

export interface Database {
  readonly prisma: PrismaClient;
  readonly pool: Pool;
}

interface Options {
  readonly maxConnections: number;
  readonly log: Logger;
}

/** The only place that makes the pool and Prisma over it. Disposing ends every connection. */
export function openDatabase(url: string, { maxConnections, log }: Options): Database & AsyncDisposable {
  const pool = new Pool({
    connectionString: url,
    max: maxConnections,
    application_name: "downlink",
    idleTimeoutMillis: 30_000,
  });
  pool.on("error", (error) => log.warn({ err: error }, "an idle database connection was lost"));
  const prisma = new PrismaClient({ adapter: new PrismaPg(pool) });
  return {
    prisma,
    pool,
    async [Symbol.asyncDispose]() {
      await prisma.$disconnect();
      await pool.end();
    },
  };
}
