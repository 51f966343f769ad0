import { Prisma } from "../db/generated/client.ts";

/** This is the time in nanoseconds since the epoch by the clock of Postgres, which all processes share. */
export const postgresNow = Prisma.sql`(extract(epoch FROM clock_timestamp()) * 1000000000)::bigint`;

/**
 * This text identifies a running Postgres. It is another one after every start, failover, restore of files, and restore of a dump, which
 * creates the tables again or empties them first: the path of a table's file contains the ids of the database and of the file.
 */
export const postgresStanding = Prisma.sql`concat_ws('/', left(pg_walfile_name(pg_current_wal_lsn()), 8),
  extract(epoch FROM pg_postmaster_start_time()), pg_relation_filepath('"Deployment"'))`;
