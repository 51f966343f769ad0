import type { api, Output } from "@downlink/protocol";
import type { FileState } from "../inventory/file-state.ts";
import type { Inventory } from "../inventory/inventory.ts";
import { type InventoryStep, lifeOf, type TrackedFile } from "../inventory/tracked-file.ts";
import { outcomeOfOver, stepToFailure } from "../uploads/plan-work.ts";

type Answer = Pick<Output<typeof api.edge.report>, "imported" | "failed">;

const ended: ReadonlySet<FileState> = new Set(["imported", "failed", "duplicate"]);

/**
 * Plans the steps for the ends of imports that the answer to a listing names. It is about the files as they were when the listing was sent:
 * later events are newer. An older cloud does not say which imports failed, so its silence means nothing.
 */
export function planEnds(
  inventory: Pick<Inventory, "version" | "outcome">,
  reported: readonly TrackedFile[],
  { imported = [], failed }: Answer,
): InventoryStep[] {
  const importedIds = new Set(imported);
  const failures = new Map(failed?.map(({ versionId, code, text }) => [versionId, { code, text }]));
  return reported.flatMap((file): InventoryStep[] => {
    const { versionId } = file;
    const state = lifeOf(file);
    if (importedIds.has(versionId)) return [{ do: "event", versionId, event: "importDone" }];
    if (failed === undefined || hasMovedOn(file, inventory.version(versionId))) return [];
    const failure = failures.get(versionId);
    if (failure) return stepToFailure(file, failure, inventory);
    return ended.has(state)
      ? [{ do: "event", versionId, event: "importTakenBack", outcome: outcomeOfOver(state) }]
      : [];
  });
}

/** A card that was taken out or put in meanwhile says nothing about the import. */
function hasMovedOn(reported: TrackedFile, now: TrackedFile | undefined): boolean {
  if (now === reported) return false;
  const isSwapped = now !== undefined && (now.away === undefined) !== (reported.away === undefined);
  return !isSwapped || lifeOf(now) !== lifeOf(reported) || now.identity !== reported.identity;
}
