import { randomUUID } from "node:crypto";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { startEmbeddedPostgres } from "../packages/cloud/src/db/embedded-postgres.ts";

/** Does the work on a new database: on the server that DATABASE_URL names, or else on one of its own. Both are removed after the work. */
export async function withEmptyDatabase<T>(work: (url: string) => Promise<T>): Promise<T> {
  const given = process.env.DATABASE_URL;
  if (given) return withDatabaseOn(given, work);
  const log = { info: () => {}, warn: (line: string) => console.error(line) };
  const dir = mkdtempSync(join(tmpdir(), "downlink-schema-"));
  await using server = await startEmbeddedPostgres({ dir, settings: { fsync: "off" }, log, isTemporary: true });
  return await work(server.url);
}

async function withDatabaseOn<T>(server: string, work: (url: string) => Promise<T>): Promise<T> {
  const admin = new pg.Client({ connectionString: server });
  await admin.connect();
  const name = `downlink_schema_${randomUUID().replaceAll("-", "")}`;
  const url = new URL(server);
  url.pathname = `/${name}`;
  try {
    await admin.query(`CREATE DATABASE ${name} TEMPLATE template0`);
    return await work(url.href);
  } finally {
    await admin.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    await admin.end();
  }
}
