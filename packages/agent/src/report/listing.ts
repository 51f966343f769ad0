import { randomUUID } from "node:crypto";
import { reportedState } from "../inventory/file-state.ts";
import type { Inventory } from "../inventory/inventory.ts";
import { lifeOf } from "../inventory/tracked-file.ts";

/** One complete listing under way: all versions that were here when it began, sent in batches. */
export interface Listing {
  readonly id: string;
  readonly versionIds: readonly string[];
  /** Versions that were gone when it began: their absence from the listing says so. */
  readonly absent: readonly string[];
  /** How many of `versionIds` are done. */
  done: number;
  /** How many items the batches named. */
  named: number;
}

export function beginListing(inventory: Inventory): Listing {
  const here = inventory.files().filter((file) => reportedState(lifeOf(file)) !== undefined);
  return {
    id: randomUUID(),
    versionIds: here.map(({ versionId }) => versionId).toArray(),
    absent: [...inventory.removals().keys()],
    done: 0,
    named: 0,
  };
}

/**
 * For the cloud, every file that a listing does not name is gone. So the listing has to wait until everything that a scan found
 * was examined, above all after the state was lost.
 */
export interface ListingBarrier {
  isOpen(inventory: Inventory, hasScanned: boolean): boolean;
}

export function createListingBarrier(): ListingBarrier {
  let waitingFor: string[] | undefined;
  return {
    isOpen(inventory, hasScanned) {
      if (!hasScanned) return false;
      // A file that is away does not hold up the listing: the cloud knows it only if it was examined before.
      const isUnseen = (versionId: string) => inventory.version(versionId)?.state === "seen";
      waitingFor ??= Array.from(inventory.files(), ({ versionId }) => versionId);
      // No file becomes unseen again, so each is checked only until it was examined once.
      for (let last = waitingFor.at(-1); last !== undefined && !isUnseen(last); last = waitingFor.at(-1))
        waitingFor.pop();
      return waitingFor.length === 0;
    },
  };
}
