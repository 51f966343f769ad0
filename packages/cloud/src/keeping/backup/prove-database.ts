import { rm } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import { giveFolder } from "../../db/embedded/cluster.ts";
import { chooseServerUser } from "../../db/embedded/launcher.ts";
import { startEmbeddedPostgres } from "../../db/embedded-postgres.ts";
import { makeDurableDirectory } from "../../store/blobs/durable-file.ts";
import { BackupError } from "./backup-errors.ts";
import { type PackedDatabase, unpackDatabase } from "./unpack-database.ts";

/** Unpacks a copy of the database into a new folder, from which Postgres can be started. */
export async function layDownDatabase(
  copy: PackedDatabase,
  { dir, isDurable }: { dir: string; isDurable: boolean },
): Promise<void> {
  await rm(dir, { recursive: true, force: true });
  await makeDurableDirectory(dir);
  const user = chooseServerUser(join(dir, "data"));
  giveFolder(dir, user);
  await unpackDatabase(copy, { dir: join(dir, "data"), user, isDurable });
}

/** Starts Postgres once on a copy of the database, which is then removed. Returns its own facts. */
export async function proveDatabase(
  copy: PackedDatabase,
  dir: string,
): Promise<{ version: string; incarnation: string }> {
  await using leftovers = new AsyncDisposableStack();
  leftovers.defer(() => rm(dir, { recursive: true, force: true }));
  await layDownDatabase(copy, { dir, isDurable: false });
  const log = { info: () => {}, warn: () => {} };
  await using server = await startEmbeddedPostgres({ dir, log, isTemporary: true, settings: { fsync: "off" } });
  const client = new pg.Client({ connectionString: server.url });
  client.on("error", () => {}); // a lost connection fails the query that needs it
  await client.connect();
  try {
    const { rows } = await client.query(
      `SELECT incarnation, current_setting('server_version') AS version FROM "Deployment"`,
    );
    if (rows.length !== 1) throw new BackupError("the copy of the database starts, and holds no deployment");
    return rows[0];
  } finally {
    await client.end();
  }
}
