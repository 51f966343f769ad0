import { pacePages } from "../../core/pace.ts";
import { pagesOf } from "../../core/pages-of.ts";
import { removeWhileSafe } from "../../recovery/held-deployment.ts";
import { UploadClosedError } from "../../store/blobs/blob-errors.ts";
import type { ListedNote } from "../../store/blobs/notes.ts";
import { MANIFESTS, readManifestKey } from "../manifests/manifest.ts";
import { findOwners } from "./find-owners.ts";
import type { Finding, SweepDeps, SweepOptions } from "./sweep-objects.ts";

type Leftover = ListedNote & { readonly blobKey: string };

/**
 * Removes the manifests of uploads that are not awaited any more and whose object does not exist: the upload never began, or the object was
 * removed before.
 */
export async function* sweepManifests(deps: SweepDeps, options: SweepOptions): AsyncGenerator<Finding, void> {
  for await (const page of pacePages(pagesOf(deps.blobs.listNotes(MANIFESTS)), options.signal)) {
    options.signal?.throwIfAborted();
    const old = page.flatMap((note) => {
      const blobKey = readManifestKey(note.key)?.blobKey;
      return blobKey !== undefined && note.modifiedAtMs < options.cutoffMs ? [{ ...note, blobKey }] : [];
    });
    for (const { key, blobKey } of await findOwnerless(deps, old)) {
      if (await isThere(deps, blobKey)) continue;
      if (!options.isDryRun) await removeWhileSafe(deps.db, () => deps.blobs.removeNote(key));
      yield { outcome: "removed", key, sizeBytes: 0, reason: "the object that it describes does not exist" };
    }
  }
}

async function findOwnerless({ db }: SweepDeps, notes: readonly Leftover[]): Promise<Leftover[]> {
  const owners = await findOwners(
    db.prisma,
    notes.map(({ blobKey }) => blobKey),
  );
  return notes.filter(({ blobKey }) => {
    const { isHeld, uploadState } = owners.get(blobKey)!;
    return !isHeld && uploadState !== "open";
  });
}

/** Looks for an object, or the beginning of one. */
async function isThere({ blobs }: SweepDeps, blobKey: string): Promise<boolean> {
  if (await blobs.stat(blobKey)) return true;
  try {
    await blobs.listParts(blobKey);
    return true;
  } catch (error) {
    if (error instanceof UploadClosedError) return false;
    throw error;
  }
}
