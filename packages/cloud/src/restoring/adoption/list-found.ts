import { pacePages } from "../../core/pace.ts";
import { pagesOf } from "../../core/pages-of.ts";
import { MANIFESTS, readManifestKey } from "../../keeping/manifests/manifest.ts";
import type { AdoptionDeps } from "./adopt-imported.ts";

/**
 * Stores the uploads that have a manifest in the store, if no recording has their data and the data was not deleted. After an interruption
 * it begins again, because stores list in no order. LATERAL and LIMIT look each recording up: the planner of a restored database does not
 * know the sizes of its tables yet, and would read them whole.
 */
export async function listFound({ db, blobs }: AdoptionDeps, signal: AbortSignal): Promise<void> {
  for await (const page of pacePages(pagesOf(blobs.listNotes(MANIFESTS)), signal)) {
    signal.throwIfAborted();
    const found = page.flatMap(({ key }) => readManifestKey(key) ?? []);
    const keys = found.map(({ blobKey }) => blobKey);
    await db.prisma.$executeRaw`
      INSERT INTO "FoundUpload" (id, "orgId", "isImported")
      SELECT split_part(n.key, '/', 2), split_part(n.key, '/', 1), bool_or(n.imported)
      FROM unnest(${keys}::text[], ${found.map(({ kind }) => kind === "import")}::boolean[]) AS n(key, imported)
      LEFT JOIN LATERAL (
        SELECT 1 AS "isThere" FROM "Recording" r WHERE r."blobKey" = n.key AND r."importStatus" = 'complete' LIMIT 1
      ) known ON true
      WHERE known."isThere" IS NULL AND NOT EXISTS (SELECT 1 FROM "LedgerEntry" l WHERE l.kind = 'Data.delete' AND l.data ->> 'blobKey' = n.key)
      GROUP BY n.key
      ON CONFLICT (id) DO UPDATE SET "isImported" = "FoundUpload"."isImported" OR EXCLUDED."isImported"`;
  }
}
