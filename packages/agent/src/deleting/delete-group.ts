import type { Log } from "../diagnostics/log.ts";
import { syncDirectory } from "../durable/durable-file.ts";
import { FileMovedError, type Storage } from "../files/open-tracked.ts";
import type { StorageRoot } from "../files/storage-root.ts";
import type { Inventory } from "../inventory/inventory.ts";
import type { TrackedFile } from "../inventory/tracked-file.ts";
import type { Turns } from "../loops/turns.ts";
import type { WakeSignal } from "../loops/wake-signal.ts";
import type { Clock } from "../system/clock.ts";
import { isFileSystemError } from "../system/system-error.ts";
import { eraseFile } from "./erase-file.ts";
import type { DeletionStep } from "./plan-deletions.ts";
import type { Setbacks } from "./setbacks.ts";
import { settleIntent } from "./settle-intents.ts";

export interface GroupContext {
  readonly clock: Clock;
  readonly log: Log;
  readonly inventory: Inventory;
  readonly storageRoot: StorageRoot;
  readonly setbacks: Setbacks;
  readonly treeTurns: Turns;
  readonly scanSignal: WakeSignal;
}

export interface Intended {
  readonly step: DeletionStep;
  readonly file: TrackedFile;
}

interface Terms {
  readonly storage: Storage;
  /** Whether the permit and its proof still hold. */
  readonly isGood: (one: Intended) => boolean;
}

/** Deletes files whose permits are recorded, then records all of them at once; returns how many. No scan runs meanwhile. */
export async function deleteGroup(ctx: GroupContext, group: readonly Intended[], terms: Terms): Promise<number> {
  const { inventory, clock, log } = ctx;
  using _turn = await ctx.treeTurns.take();
  const deleted: Intended[] = [];
  const trashes = new Set<string>();
  for (const one of group) {
    const trash = await tryToErase(ctx, one, terms);
    if (trash === undefined) await settle(ctx, one, terms);
    else deleted.push(one);
    if (trash !== undefined) trashes.add(trash);
  }
  for (const trash of trashes) await syncDirectory(trash);
  const atNs = clock.nowNs();
  inventory.change(deleted.map(({ step: { versionId } }) => ({ do: "noteDeleted", versionId, atNs })));
  for (const { step, file } of deleted)
    log.info({ path: file.path, rule: step.reason, sizeBytes: step.sizeBytes }, "a file was deleted");
  return deleted.length;
}

/** Returns the trash through which the file went; undefined where it was not deleted. */
async function tryToErase(
  { inventory, setbacks, scanSignal }: GroupContext,
  one: Intended,
  { storage, isGood }: Terms,
): Promise<string | undefined> {
  const { file } = one;
  const { versionId, reason } = one.step;
  const isAllowed = () => isGood(one) && inventory.version(versionId)?.state === "deleting";
  const about = { versionId, reason, path: file.path };
  try {
    const needsOnlyName = reason === "space" || reason === "prune";
    const { outcome, trash } = await eraseFile({ storage, file, needsOnlyName, isAllowed });
    if (outcome === "deleted") return trash;
    if (outcome === "stopped") scanSignal.notify();
    else setbacks.note(about, { code: "OtherName", text: "it has another name" }, Number.POSITIVE_INFINITY);
  } catch (error) {
    if (!(error instanceof FileMovedError || isFileSystemError(error))) throw error;
    if (error instanceof FileMovedError) inventory.change([{ do: "keep", versionId }]); // Another program moved it.
    setbacks.note(about, { code: error instanceof FileMovedError ? "FileMoved" : "FileSystem", text: error.message });
    scanSignal.notify();
  }
  return undefined;
}

/** Lets the file stay, and puts it back from the trash where it is there. */
async function settle(
  { inventory, storageRoot, clock }: GroupContext,
  { file }: Intended,
  { storage }: Terms,
): Promise<void> {
  const left = inventory.version(file.versionId);
  const isRootThere = async () => (await storageRoot.find()) !== undefined;
  if (left) await settleIntent({ inventory, storage, isRootThere, nowNs: clock.nowNs() }, left);
}
