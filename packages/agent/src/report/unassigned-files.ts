import type { Inventory } from "../inventory/inventory.ts";
import { lifeOf } from "../inventory/tracked-file.ts";
import type { Clock } from "../system/clock.ts";

/** Files that belong to no device. Their device may be created at any time, so the cloud is asked about them again. */
export interface UnassignedFiles {
  /** The files to ask about now, each once each time. */
  due(): ReadonlySet<string>;
  noteAsked(versionIds: Iterable<string>): void;
  /** The cloud said that there are such files. */
  noteFound(): void;
  /** The time until they are due again; undefined while there are none. */
  restMs(): number | undefined;
}

const ASK_AGAIN_MS = 600_000;

export function createUnassignedFiles({ inventory, clock }: { inventory: Inventory; clock: Clock }): UnassignedFiles {
  const due = new Set<string>();
  let dueMs = 0;
  let hasAny = false;
  return {
    due() {
      if (clock.monotonicMs() < dueMs) return due;
      dueMs = clock.monotonicMs() + ASK_AGAIN_MS;
      due.clear();
      for (const file of inventory.files()) if (lifeOf(file) === "unassigned") due.add(file.versionId);
      hasAny = due.size > 0;
      return due;
    },
    noteAsked(versionIds) {
      for (const versionId of versionIds) due.delete(versionId);
    },
    noteFound() {
      hasAny = true;
    },
    restMs: () => (hasAny ? Math.max(1, dueMs - clock.monotonicMs()) : undefined),
  };
}
