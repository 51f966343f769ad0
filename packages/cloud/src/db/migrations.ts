import { createHash, randomUUID } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "pg";

/** In a checkout, Prisma's own folder; in a package, a copy beside the code. */
export const migrationsDir = fileURLToPath(new URL("../../../../prisma/migrations", import.meta.url));

export async function applyMigrations({ url, dir }: { url: string; dir: string; log: unknown }): Promise<void> {
  const names = (await readdir(dir, { withFileTypes: true }))
    .filter((e) => e.isDirectory())
    .map((e) => e.name)
    .sort();
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query("SELECT pg_advisory_lock(72707369)");
  await client.query(`CREATE TABLE IF NOT EXISTS _prisma_migrations (
  id VARCHAR(36) PRIMARY KEY NOT NULL, checksum VARCHAR(64) NOT NULL, finished_at TIMESTAMPTZ,
  migration_name VARCHAR(255) NOT NULL, logs TEXT, rolled_back_at TIMESTAMPTZ,
  started_at TIMESTAMPTZ NOT NULL DEFAULT now(), applied_steps_count INTEGER NOT NULL DEFAULT 0)`);
  for (const name of names) {
    const sql = await readFile(join(dir, name, "migration.sql"), "utf8");
    const done = await client.query("SELECT 1 FROM _prisma_migrations WHERE migration_name=$1", [name]);
    if (done.rowCount) continue;
    await client.query(sql);
    await client.query(
      "INSERT INTO _prisma_migrations (id, checksum, migration_name, finished_at, applied_steps_count) VALUES ($1,$2,$3,now(),1)",
      [randomUUID(), createHash("sha256").update(sql).digest("hex"), name],
    );
  }
  await client.end();
}
