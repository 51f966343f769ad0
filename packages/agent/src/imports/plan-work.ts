import type { WantedImport } from "@downlink/protocol";
import { type FileEvent, type FileState, nextState } from "../inventory/file-state.ts";
import type { Inventory } from "../inventory/inventory.ts";
import type { InventoryStep } from "../inventory/tracked-file.ts";
import type { WorkBoard } from "./work-board.ts";

const events: Readonly<Record<WantedImport["stage"], FileEvent>> = {
  deliver: "wanted",
  processing: "delivered",
  imported: "importDone",
  failed: "importFailed",
};

/** States that last only as long as the cloud wants the file. */
const passing: ReadonlySet<FileState> = new Set(["requested", "uploading", "stored"]);

export interface WorkPlan {
  readonly steps: readonly InventoryStep[];
  /** Requests for versions that are not here. */
  readonly missing: readonly WantedImport[];
}

/** How the files' states follow from what the cloud wants. */
export function planWork(
  board: Pick<WorkBoard, "byVersion" | "isClosed">,
  inventory: Pick<Inventory, "files" | "version">,
): WorkPlan {
  const steps: InventoryStep[] = [];
  const missing: WantedImport[] = [];
  for (const request of board.byVersion().values()) {
    const { versionId, stage, requestId } = request;
    if (stage === "deliver" && board.isClosed(requestId)) continue;
    const file = inventory.version(versionId);
    const event = events[stage];
    if (file && nextState(file.state, event) !== file.state) steps.push({ do: "event", versionId, event });
    else if (!file && stage === "deliver") missing.push(request);
  }
  for (const { versionId, state } of inventory.files()) {
    if (passing.has(state) && !board.byVersion().has(versionId))
      steps.push({ do: "event", versionId, event: "unwanted" });
  }
  return { steps, missing };
}
