import type { WantedImport } from "@downlink/protocol";
import type { WorkBoard } from "../cloud/work-board.ts";
import { type FileEvent, type FileState, nextState } from "../inventory/file-state.ts";
import type { Inventory } from "../inventory/inventory.ts";
import { type ImportOutcome, type InventoryStep, lifeOf, type TrackedFile } from "../inventory/tracked-file.ts";

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

/** Plans how the files' states follow what the cloud wants. */
export function planWork(
  board: Pick<WorkBoard, "byVersion" | "isClosed">,
  inventory: Pick<Inventory, "files" | "version" | "outcome">,
): WorkPlan {
  const steps: InventoryStep[] = [];
  const missing: WantedImport[] = [];
  for (const request of board.byVersion().values()) {
    const { versionId, stage } = request;
    if (stage === "deliver" && board.isClosed(request)) continue;
    const file = inventory.version(versionId);
    if (file) steps.push(...stepTo(file, request, inventory));
    else if (stage === "deliver") missing.push(request);
  }
  for (const file of inventory.files()) {
    const { versionId } = file;
    if (passing.has(lifeOf(file)) && !board.byVersion().has(versionId))
      steps.push({ do: "event", versionId, event: "unwanted" });
  }
  return { steps, missing };
}

function stepTo(file: TrackedFile, request: WantedImport, inventory: Pick<Inventory, "outcome">): InventoryStep[] {
  const { stage, isOver, reason } = request;
  const { versionId } = file;
  const state = lifeOf(file);
  if (isOver) {
    const next = nextState(state, "importTakenBack");
    const isNew = next !== state || (next === "reported" && inventory.outcome(versionId) === undefined);
    const outcome = outcomeOfOver(state, request);
    return isNew ? [{ do: "event", versionId, event: "importTakenBack", outcome }] : [];
  }
  if (stage === "failed") return stepToFailure(file, reason, inventory);
  const event = events[stage];
  return nextState(state, event) === state ? [] : [{ do: "event", versionId, event }];
}

/** Returns the step that records a failure, also where the import failed before for another reason. */
export function stepToFailure(
  file: TrackedFile,
  outcome: ImportOutcome | undefined,
  inventory: Pick<Inventory, "outcome">,
): InventoryStep[] {
  const { versionId } = file;
  const state = lifeOf(file);
  const event = outcome?.code === DUPLICATE ? "foundDuplicate" : "importFailed";
  const next = nextState(state, event);
  const isEnded = next === "failed" || next === "duplicate";
  const known = inventory.outcome(versionId);
  const isNews = outcome !== undefined && (known?.code !== outcome.code || known.text !== outcome.text);
  return next !== state || (isEnded && isNews) ? [{ do: "event", versionId, event, outcome }] : [];
}

const DUPLICATE = "DuplicateContent";

/** Returns the outcome of an import whose end no longer counts, by the state in which the file was. */
export function outcomeOfOver(
  state: FileState,
  { stage, reason }: Partial<Pick<WantedImport, "stage" | "reason">> = {},
): ImportOutcome {
  if (state === "duplicate" || reason?.code === DUPLICATE)
    return {
      code: "OriginalDeleted",
      text: "It is a copy of a recording that was in the control plane, and whose data was deleted there since",
    };
  return state === "imported" || stage === "imported"
    ? { code: "DataDeleted", text: "It was imported, and its data was deleted in the control plane since" }
    : {
        code: "FailureTakenBack",
        text: "Its last import failed, and the control plane has withdrawn that failure since",
      };
}
