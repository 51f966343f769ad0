import type { Database } from "../../db/client.ts";
import { removeWhileSafe } from "../../recovery/held-deployment.ts";
import type { BlobStore } from "../../store/blobs/blob-store.ts";
import { isOfCustomer } from "../../store/blobs/object-key.ts";
import { isUploadKey, manifestKey } from "./manifest.ts";

interface RemovalDeps {
  readonly db: Pick<Database, "prisma">;
  readonly blobs: Pick<BlobStore, "delete" | "removeNote">;
}

/**
 * Removes an object, or an unfinished upload, and then its manifests: in the other order nothing would say what a leftover object was.
 * Throws a NotSafeError, and removes nothing, while database and store may disagree.
 */
export async function removeObject({ db, blobs }: RemovalDeps, blobKey: string): Promise<void> {
  if (isOfCustomer(blobKey)) return; // nothing is ever removed there
  await removeWhileSafe(db, async () => {
    await blobs.delete(blobKey);
    if (isUploadKey(blobKey)) await removeManifests(blobs, blobKey);
  });
}

/** Removes the manifests of an object that does not exist. */
export async function removeManifests(blobs: Pick<BlobStore, "removeNote">, blobKey: string): Promise<void> {
  await blobs.removeNote(manifestKey(blobKey, "import"));
  await blobs.removeNote(manifestKey(blobKey, "begun"));
}
