import type { ExternalPostgres } from "../../processes/external-postgres.ts";

const ROWS_PER_STATEMENT = 100_000;
/** The database has lost one of so many recordings. */
const LOST_EVERY = 1000;

/** Returns the ids of the only organization, its project and its site. */
export async function readOwner({ query }: ExternalPostgres): Promise<string[]> {
  const [row] = await query<{ owner: string[] }>(
    `SELECT ARRAY[p."orgId", p.id, s.id] AS owner FROM "Project" p, "Site" s LIMIT 1`,
  );
  return row!.owner;
}

/** Inserts imported recordings, and as many entries of the ledger. */
export async function insertObjects(postgres: ExternalPostgres, objects: number): Promise<void> {
  const [orgId, projectId, siteId] = await readOwner(postgres);
  for (let first = 1; first <= objects; first += ROWS_PER_STATEMENT) {
    const last = Math.min(objects, first + ROWS_PER_STATEMENT - 1);
    const numbers = `(SELECT i, lpad(i::text, 26, '0') AS n FROM generate_series(${first}, ${last}) i) numbered`;
    const kept = `${numbers} WHERE i % ${LOST_EVERY} <> 0`;
    await postgres.query(`INSERT INTO "Recording" (id, "orgId", "projectId", path, "sizeBytes", "startNs", "endNs", "durationNs", format,
        "messageCount", metadata, "createdAtNs", "importStatus", "importedAtNs", "importId", "isEdge", "contentSha256", "blobKey")
      SELECT 'rec_' || n, '${orgId}', '${projectId}', i || '.mcap', 1000, i, i + 1, 1, 'mcap', 1, '[]', i, 'complete', i, 'imp_' || n,
        false, lpad(n, 64, '0'), '${orgId}/upl_' || n FROM ${kept}`);
    await postgres.query(`INSERT INTO "Import" (id, "orgId", "projectId", "recordingId", "siteId", filename, "importedAtNs", "startNs",
        "endNs", format, "sizeBytes")
      SELECT 'imp_' || n, '${orgId}', '${projectId}', 'rec_' || n, '${siteId}', i || '.mcap', i, i, i + 1, 'mcap', 1000 FROM ${kept}`);
    await postgres.query(`INSERT INTO "LedgerEntry" (id, kind, subject, data, "isNoted")
      SELECT lpad(i::text, 19, '0') || '-0', 'Data.delete', 'rec_gone' || i,
        jsonb_build_object('importId', NULL, 'blobKey', 'gone/upl_' || n), true FROM ${numbers}`);
  }
  await postgres.query("ANALYZE");
}
