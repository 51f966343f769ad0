import { pagesOf } from "../../core/pages-of.ts";
import type { Database } from "../../db/client.ts";
import type { BlobStore } from "../../store/blobs/blob-store.ts";
import { MANIFESTS, readManifestKey } from "./manifest.ts";

interface LostDeps {
  readonly db: Pick<Database, "prisma">;
  readonly blobs: Pick<BlobStore, "listNotes">;
}

/**
 * Finds the id of an upload of an existing organization whose manifest was written after `sinceMs` and whose row is missing: rows exist
 * before manifests and are never deleted, so the database is older than the store. Returns undefined if no row is missing.
 */
export async function findLostUpload({ db, blobs }: LostDeps, sinceMs: number): Promise<string | undefined> {
  for await (const page of pagesOf(blobs.listNotes(MANIFESTS))) {
    const keys = page.flatMap(({ key, modifiedAtMs }) => {
      const blobKey = modifiedAtMs >= sinceMs ? readManifestKey(key)?.blobKey : undefined;
      return blobKey ?? [];
    });
    const [lost] = await db.prisma.$queryRaw<{ id: string }[]>`
      SELECT split_part(k.key, '/', 2) AS id FROM unnest(${keys}::text[]) AS k(key)
      WHERE EXISTS (SELECT 1 FROM "Organization" o WHERE o.id = split_part(k.key, '/', 1))
        AND NOT EXISTS (SELECT 1 FROM "Upload" u WHERE u."blobKey" = k.key) LIMIT 1`;
    if (lost) return lost.id;
  }
  return undefined;
}
