import { hashFile, isProof } from "../files/hash-file.ts";
import { FileMovedError, type Storage } from "../files/open-tracked.ts";
import type { Inventory } from "../inventory/inventory.ts";
import type { WakeSignal } from "../loops/wake-signal.ts";
import type { Clock } from "../system/clock.ts";
import { isFileSystemError } from "../system/system-error.ts";
import type { FileSystems } from "./file-systems.ts";
import type { DeletionStep } from "./plan-deletions.ts";
import type { Proofs } from "./proofs.ts";
import type { Setbacks } from "./setbacks.ts";

export interface ProverContext {
  readonly clock: Clock;
  readonly inventory: Inventory;
  readonly setbacks: Setbacks;
  readonly fileSystems: FileSystems;
  readonly proofs: Proofs;
  readonly scanSignal: WakeSignal;
  /** To be notified when a file has been read. */
  readonly deleteSignal: WakeSignal;
}

/** Reads files that have to be proven before their deletion: one at a time and beside all other work, because it may take long. */
export interface Prover {
  /** Begins to read a file, unless another one is being read. Throws the error of an earlier reading, where that was a fault. */
  begin(step: DeletionStep, storage: Storage, signal: AbortSignal): void;
  /** Resolves when no file is being read. */
  untilIdle(): Promise<void>;
}

/** How long after the last change of a file its hash proves something. */
const PROOF_REST_MS = 2500;

export function createProver(ctx: ProverContext): Prover {
  let reading: Promise<void> | undefined;
  let fault: unknown;
  return {
    begin(step, storage, signal) {
      const ended = fault;
      fault = undefined;
      if (ended !== undefined) throw ended;
      reading ??= prove(ctx, step, { storage, signal })
        .catch((error: unknown) => {
          if (!signal.aborted) fault = error;
        })
        .finally(() => {
          reading = undefined;
          ctx.deleteSignal.notify();
        });
    },
    untilIdle: async () => await reading,
  };
}

async function prove(
  { inventory, clock, setbacks, scanSignal, fileSystems, proofs }: ProverContext,
  { versionId, reason }: DeletionStep,
  options: { storage: Storage; signal: AbortSignal },
): Promise<void> {
  const file = inventory.version(versionId);
  if (!file) return;
  const about = { versionId, reason, path: file.path };
  try {
    const seen = await fileSystems.look(options.storage, file);
    if (seen.showsChanges && !isProof(file.identity, clock.nowNs())) {
      setbacks.note(about, { code: "FileMoved", text: "it was changed a moment ago" }, PROOF_REST_MS);
      return;
    }
    inventory.change([proofs.stepFor(file, await hashFile(file, { clock, ...options }), seen)]);
    if (!inventory.version(versionId)) scanSignal.notify(); // The file is another version, which has to be examined.
  } catch (error) {
    if (!(error instanceof FileMovedError || isFileSystemError(error))) throw error;
    setbacks.note(about, { code: error instanceof FileMovedError ? "FileMoved" : "FileSystem", text: error.message });
    scanSignal.notify();
  }
}
