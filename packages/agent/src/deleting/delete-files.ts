import type { PermitAnswer } from "@downlink/protocol";
import type { ServerClock } from "../cloud/server-clock.ts";
import type { CloudSession } from "../cloud/session.ts";
import type { Storage } from "../files/open-tracked.ts";
import type { Inventory } from "../inventory/inventory.ts";
import type { InventoryStep, TrackedFile } from "../inventory/tracked-file.ts";
import type { WakeSignal } from "../loops/wake-signal.ts";
import { deleteGroup, type GroupContext, type Intended } from "./delete-group.ts";
import { askPermits, type Permits } from "./permits.ts";
import { type DeletionStep, needsProof } from "./plan-deletions.ts";
import type { Proofs } from "./proofs.ts";

export interface DeleteContext extends GroupContext {
  readonly session: CloudSession;
  readonly serverClock: ServerClock;
  readonly proofs: Proofs;
  readonly reportSignal: WakeSignal;
  /** Whether the cloud, in its present incarnation, knows all that is here. */
  readonly isListed: () => boolean;
}

interface Batch {
  readonly steps: readonly DeletionStep[];
  readonly storage: Storage;
  /** The cloud cannot be asked: only what the operator's quota allows without a permit is deleted. */
  readonly isCutOff: boolean;
  readonly signal: AbortSignal;
}

/** The files of a group share the two waits for the disk, which cost most. */
const FILES_IN_A_GROUP = 25;

/**
 * Carries out some steps of a plan: intent → permit → out of sight → checked again → gone → recorded → reported. A file that the cloud
 * refuses, or that turns out to be another one, stays. Returns how many files were deleted; fails as the client does.
 */
export async function deleteFiles(ctx: DeleteContext, batch: Batch): Promise<number> {
  const intended = intend(ctx.inventory, batch.steps);
  const permits = batch.isCutOff ? undefined : await askOrKeep(ctx, intended, batch.signal);
  const permitted = sortOut(ctx, intended, permits);
  const isGood = ({ step, file }: Intended) =>
    permits === undefined || (permits.isGood() && (!needsProof(step) || ctx.proofs.hashOf(file) !== undefined));
  const terms = { storage: batch.storage, isGood };
  let count = 0;
  // When this is aborted in between, the next start settles what was intended.
  for (let at = 0; at < permitted.length && !batch.signal.aborted; at += FILES_IN_A_GROUP)
    count += await deleteGroup(ctx, permitted.slice(at, at + FILES_IN_A_GROUP), terms);
  if (count > 0) ctx.reportSignal.notify();
  return count;
}

/** From now on no other part of the agent touches these files. */
function intend(inventory: Inventory, steps: readonly DeletionStep[]): Intended[] {
  const known = steps.flatMap((step) => {
    const file = inventory.version(step.versionId);
    return file ? [{ step, file }] : [];
  });
  inventory.change(
    known.map(({ step: { versionId, reason }, file }) => ({ do: "intend", versionId, reason, was: file.identity })),
  );
  return known.filter(({ file }) => inventory.version(file.versionId)?.state === "deleting");
}

async function askOrKeep(ctx: DeleteContext, intended: readonly Intended[], signal: AbortSignal): Promise<Permits> {
  try {
    return await askPermits(ctx, intended, signal);
  } catch (failure) {
    ctx.inventory.change(intended.map(({ step: { versionId } }) => ({ do: "keep", versionId })));
    throw failure;
  }
}

/** Records every answer at once, and returns what may be deleted. */
function sortOut(ctx: DeleteContext, intended: readonly Intended[], permits: Permits | undefined): Intended[] {
  const steps: InventoryStep[] = [];
  const permitted = intended.filter(({ step, file }) => {
    const answer = permits?.answers.get(step.versionId);
    const isGranted = permits === undefined || answer?.answer === "granted";
    const permitId = answer?.answer === "granted" ? answer.permitId : undefined;
    if (isGranted) steps.push({ do: "permit", versionId: step.versionId, permitId });
    else if (answer?.answer === "refused") steps.push(...refuse(ctx, { step, file }, answer));
    return isGranted;
  });
  ctx.inventory.change(steps);
  return permitted;
}

function refuse(
  { setbacks, serverClock, log }: DeleteContext,
  { step: { versionId, reason }, file }: Intended,
  { code, text, notBefore }: Extract<PermitAnswer, { answer: "refused" }>,
): InventoryStep[] {
  const nowNs = serverClock.nowNs();
  const restMs = notBefore === undefined || nowNs === undefined ? undefined : Number((notBefore - nowNs) / 1_000_000n);
  setbacks.note({ versionId, reason, path: file.path }, { code, text }, restMs && Math.max(1000, restMs));
  log.debug({ path: file.path, reason, code, text }, "a deletion was refused");
  const keep = { do: "keep", versionId, isImportOver: code === "ImportNotComplete" } as const;
  // The cloud forgot the file, or took it for gone: the file is reported again.
  return code === "Unknown" || code === "NotARecording" ? [reportAgain(file), keep] : [keep];
}

function reportAgain({ versionId, path, identity }: TrackedFile): InventoryStep {
  return { do: "move", versionId, path, identity };
}
