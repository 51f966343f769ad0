import { type FileHash, hashFile, isProof } from "../files/hash-file.ts";
import { FileMovedError, type Storage } from "../files/open-tracked.ts";
import type { Inventory } from "../inventory/inventory.ts";
import type { TrackedFile } from "../inventory/tracked-file.ts";
import type { Clock } from "../system/clock.ts";
import { ContentMismatchError, type UploadJob } from "./open-upload.ts";
import type { UploadMemories } from "./upload-memories.ts";

export interface HashContext {
  readonly clock: Clock;
  readonly inventory: Inventory;
  /** Whether a rewrite of the file with its times restored would show. */
  readonly showsChanges: (storage: Storage, file: TrackedFile) => Promise<boolean>;
}

interface Sent {
  readonly requestId: string;
  readonly file: TrackedFile;
  readonly storage: Storage;
}

type HashMeans = Pick<
  UploadJob,
  "hashesFor" | "forgetHashes" | "showsChanges" | "onHashed" | "knownSha256" | "hashWhole"
>;

/** Keeps the hashes of an upload: those of an earlier try, and that of the whole file. */
export function rememberHashes(
  { clock, inventory, memories, showsChanges }: HashContext & { readonly memories: UploadMemories },
  { requestId, file, storage }: Sent,
): HashMeans {
  const { versionId, identity, path } = file;
  const note = ({ sha256, begunNs }: FileHash): void => {
    inventory.change([{ do: "noteHash", versionId, sha256, of: identity, isProof: isProof(identity, begunNs) }]);
    const there = inventory.version(versionId);
    if (!there) throw new ContentMismatchError(path);
    if (there.away) throw new FileMovedError(path, "missing"); // The next step is decided once its card is in.
  };
  return {
    hashesFor: (plan) => memories.hashesFor(requestId, { ...plan, identity }),
    forgetHashes: () => memories.forgetHashes(requestId),
    showsChanges: () => showsChanges(storage, file),
    // It is recorded before the upload is completed: then it is known what was delivered, even if the answer is lost.
    onHashed: note,
    knownSha256: inventory.hash(file),
    // The file is read slowly, beside all other work. The proof is kept for the day on which the file may be deleted.
    async hashWhole(signal) {
      const hash = await hashFile(file, { clock, storage, signal });
      note(hash);
      return hash.sha256;
    },
  };
}
