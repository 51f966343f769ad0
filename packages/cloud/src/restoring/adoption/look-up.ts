import type { FoundUploadModel } from "../../db/generated/models.ts";
import { type Manifest, type ManifestKind, manifestKey, parseManifest } from "../../keeping/manifests/manifest.ts";
import { UploadClosedError } from "../../store/blobs/blob-errors.ts";
import type { AdoptionDeps } from "./adopt-imported.ts";

/** The parts of an upload that the store has. */
export interface Found {
  readonly id: string;
  /** The later of the two manifests; undefined if both are gone meanwhile. */
  readonly manifest: Manifest | undefined;
  /** The size of the whole object; undefined if there is none. */
  readonly sizeBytes: number | undefined;
  /** There are parts with which the upload can continue. */
  readonly isUnfinished: boolean;
  readonly hasIndex: boolean;
}

/** Throws a ManifestError for a manifest that it does not understand; any other error proves nothing about the upload. */
export async function lookUp({ blobs }: AdoptionDeps, { id, orgId, isImported }: FoundUploadModel): Promise<Found> {
  const blobKey = `${orgId}/${id}`;
  const read = async (kind: ManifestKind) => {
    const bytes = await blobs.getNote(manifestKey(blobKey, kind));
    return bytes && parseManifest(blobKey, kind, bytes);
  };
  const manifest = (isImported ? await read("import") : undefined) ?? (await read("begun"));
  const sizeBytes = (await blobs.stat(blobKey))?.sizeBytes;
  const isUnfinished = sizeBytes === undefined && (await hasParts({ blobs }, blobKey));
  const indexKey = manifest?.kind === "import" ? manifest.indexKey : undefined;
  const hasIndex = indexKey !== undefined && (await blobs.stat(indexKey)) !== undefined;
  return { id, manifest, sizeBytes, isUnfinished, hasIndex };
}

async function hasParts({ blobs }: Pick<AdoptionDeps, "blobs">, blobKey: string): Promise<boolean> {
  try {
    await blobs.listParts(blobKey);
    return true;
  } catch (error) {
    if (error instanceof UploadClosedError) return false;
    throw error;
  }
}
