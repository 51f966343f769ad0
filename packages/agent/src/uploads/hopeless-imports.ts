import { ApiCallError } from "@downlink/client";
import { api, type DeliveryFailure, type WantedImport } from "@downlink/protocol";
import type { CloudSession } from "../cloud/session.ts";
import type { WorkBoard } from "../cloud/work-board.ts";
import type { Log } from "../diagnostics/log.ts";
import type { StorageRoot } from "../files/storage-root.ts";
import type { Inventory } from "../inventory/inventory.ts";
import type { WakeSignal } from "../loops/wake-signal.ts";
import { classifyFailure } from "./classify-failure.ts";
import type { UploadMemories } from "./upload-memories.ts";
import type { UploadTroubles } from "./upload-troubles.ts";

interface HopelessContext {
  readonly session: CloudSession;
  readonly log: Log;
  readonly inventory: Inventory;
  readonly board: WorkBoard;
  readonly storageRoot: StorageRoot;
  /** Whether the cloud knows all that is here. */
  readonly isListed: () => boolean;
  readonly workSignal: WakeSignal;
  readonly reportSignal: WakeSignal;
  readonly memories: Pick<UploadMemories, "isResting" | "forget">;
  readonly troubles: UploadTroubles;
  /** Is called with errors that are a mistake of the agent. */
  readonly onFault: (fault: unknown) => void;
}

/** Reports to the cloud imports that cannot succeed. */
export interface HopelessImports {
  /** Begins to fail the import of a file that is not here, unless many such calls are under way. */
  giveUpGone(request: WantedImport, signal: AbortSignal): void;
  giveUp(request: WantedImport, why: DeliveryReason, signal: AbortSignal): Promise<void>;
}

interface DeliveryReason {
  readonly code: DeliveryFailure;
  readonly text: string;
}

/** How many requests for files that are gone are answered at once. */
const PARALLEL_GIVE_UPS = 4;
const MAX_TEXT = 1000;

const changed: DeliveryReason = {
  code: "FileChanged",
  text: "The file was changed on the device; what is there now is another version.",
};
const gone: DeliveryReason = { code: "FileGone", text: "The file is no longer on the device." };

export function createHopelessImports(ctx: HopelessContext): HopelessImports {
  const { inventory, isListed, storageRoot, memories } = ctx;
  const givingUp = new Set<string>();
  return {
    /** It acts only when the cloud has the whole listing: before, the cloud may ask for versions that it will find there under another id. */
    giveUpGone(request, signal) {
      if (!isListed() || !storageRoot.current() || givingUp.size >= PARALLEL_GIVE_UPS) return;
      const { requestId, versionId } = request;
      if (givingUp.has(requestId) || memories.isResting(requestId)) return;
      const why = inventory.removals().get(versionId)?.because === "changed" ? changed : gone;
      givingUp.add(requestId);
      giveUp(ctx, { request, why, signal })
        .catch(ctx.onFault)
        .finally(() => {
          givingUp.delete(requestId);
          ctx.workSignal.notify();
        });
    },
    giveUp: (request, why, signal) => giveUp(ctx, { request, why, signal }),
  };
}

async function giveUp(
  { session, board, inventory, reportSignal, log, memories, troubles }: HopelessContext,
  { request, why, signal }: { request: WantedImport; why: DeliveryReason; signal: AbortSignal },
): Promise<void> {
  const { requestId, versionId } = request;
  try {
    const text = why.text.slice(0, MAX_TEXT);
    await session.call(api.edge.failImport, { requestId, versionId, code: why.code, text }, { signal });
    log.warn({ requestId, ...why }, "an import was given up");
  } catch (failure) {
    if (signal.aborted) return;
    const isUnknown = failure instanceof ApiCallError && failure.code === "NotFound";
    if (!isUnknown && classifyFailure(failure) !== "cancelled") {
      troubles.noteFailure(requestId, failure);
      return;
    }
  }
  inventory.change([{ do: "event", versionId, event: "importFailed", outcome: why }]);
  board.close(request);
  memories.forget(requestId);
  troubles.show();
  reportSignal.notify();
}
