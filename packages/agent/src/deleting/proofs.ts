import { type FileHash, isProof } from "../files/hash-file.ts";
import type { FileIdentity } from "../inventory/identity.ts";
import type { Inventory } from "../inventory/inventory.ts";
import type { InventoryStep, TrackedFile } from "../inventory/tracked-file.ts";
import type { Clock } from "../system/clock.ts";
import type { FileSystemFacts, FileSystems } from "./file-systems.ts";

/** The hashes on which a deletion may rely. */
export interface Proofs {
  /** The SHA-256 of all bytes of the file as it is now; undefined while no hash proves that. */
  hashOf(file: TrackedFile): string | undefined;
  /**
   * The step that records a hash of the file under its identity. `seen` is what was known of the file system before the first
   * byte was read; without it, the hash proves nothing where changes do not show.
   */
  stepFor(file: Pick<TrackedFile, "versionId" | "identity">, hash: FileHash, seen?: FileSystemFacts): InventoryStep;
}

interface Fleeting {
  readonly identity: FileIdentity;
  readonly sha256: string;
  readonly mount: number;
  readonly takenMs: number;
}

const FLEETING_MS = 600_000;

/**
 * A hash proves what the file holds as long as every change of the bytes would show. Where the file system does not show changes,
 * the hash is a proof only within the same process and mount, for ten minutes. spec: edge agent §4
 */
export function createProofs(ctx: {
  readonly inventory: Pick<Inventory, "hash">;
  readonly fileSystems: Pick<FileSystems, "known">;
  readonly clock: Clock;
}): Proofs {
  const { inventory, fileSystems, clock } = ctx;
  const fleeting = new Map<string, Fleeting>();
  const isOver = ({ takenMs }: Fleeting) => clock.uptimeMs() - takenMs >= FLEETING_MS;
  return {
    hashOf(file) {
      const facts = fileSystems.known(file);
      if (!facts) return undefined;
      if (facts.showsChanges) return inventory.hash(file);
      const taken = fleeting.get(file.versionId);
      const isHolding = taken?.identity === file.identity && taken.mount === facts.mount && !isOver(taken);
      return isHolding ? taken.sha256 : undefined;
    },
    stepFor(file, { sha256, begunNs }, seen) {
      const { versionId, identity } = file;
      fleeting.delete(versionId);
      for (const [id, taken] of fleeting) {
        if (!isOver(taken)) break; // The hashes are in the order in which they were taken.
        fleeting.delete(id);
      }
      if (seen?.showsChanges === false)
        fleeting.set(versionId, { identity, sha256, mount: seen.mount, takenMs: clock.uptimeMs() });
      return { do: "noteHash", versionId, sha256, of: identity, isProof: isProof(identity, begunNs) };
    },
  };
}
