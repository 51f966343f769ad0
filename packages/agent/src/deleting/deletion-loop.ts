import { join } from "node:path";
import type { DeletionReason } from "@downlink/protocol";
import type { RetentionHold } from "../cloud/retention-hold.ts";
import { repeatWithRetries } from "../cloud/retry-loop.ts";
import type { WorkBoard } from "../cloud/work-board.ts";
import type { ProblemBoard } from "../diagnostics/problems.ts";
import type { Storage } from "../files/open-tracked.ts";
import { TRASH_NAME } from "../files/scan.ts";
import type { FileNumber } from "../inventory/identity.ts";
import type { TrackedFile } from "../inventory/tracked-file.ts";
import { pause, type WakeSignal } from "../loops/wake-signal.ts";
import { isStateUnwritable } from "../state/state-errors.ts";
import type { StateFacts } from "../state/state-facts.ts";
import { keepReserve, releaseReserve } from "../state/state-reserve.ts";
import { measureDisk } from "../system/measure-disk.ts";
import { isFileSystemError } from "../system/system-error.ts";
import { type CloudReach, createCloudReach } from "./cloud-reach.ts";
import { type DeleteContext, deleteFiles } from "./delete-files.ts";
import { type Disk, showDeletionProblems } from "./deletion-problems.ts";
import type { FileSystems } from "./file-systems.ts";
import { createLimitHold, type LimitHold } from "./limit-hold.ts";
import {
  type DeletionPlan,
  type DeletionSituation,
  type DeletionStep,
  isForLimit,
  needsProof,
  planDeletions,
} from "./plan-deletions.ts";
import { createProver, type Prover } from "./prover.ts";
import { type Quota, toPolicy } from "./quota.ts";
import { createSetbacks, type Waiting } from "./setbacks.ts";
import { settleIntents } from "./settle-intents.ts";
import { makeTrash } from "./trash.ts";

export interface DeletionContext extends Omit<DeleteContext, "setbacks"> {
  readonly board: WorkBoard;
  readonly problems: ProblemBoard;
  readonly quota: Quota;
  readonly hold: RetentionHold;
  readonly facts: Pick<StateFacts, "limits" | "noteLimits">;
  readonly stateDir: string;
  readonly fileSystems: FileSystems;
  /** Whether the file is being checked, because it may be another version by now. */
  readonly isInRecheck: (versionId: string) => boolean;
  /** Is notified when something may have to be deleted. */
  readonly deleteSignal: WakeSignal;
}

export interface Deletions {
  run(signal: AbortSignal): Promise<void>;
  /** Completes or takes back deletions that were begun and not ended. */
  settle(storage: Storage): Promise<void>;
  /** Begins the deletions that wait for a new disk limit. Returns what they are; undefined where none wait. */
  confirm(): PlannedDeletion[] | undefined;
  overview(): DeletionOverview;
}

/** The deletions that are planned for one reason. */
export interface PlannedDeletion {
  readonly reason: DeletionReason;
  readonly files: number;
  readonly bytes: number;
  /** Milliseconds until these begin; undefined where they do not wait. */
  readonly heldForMs: number | undefined;
}

/** The planned deletions with their reasons, and the deletions since the start. */
export interface DeletionOverview {
  readonly planned: readonly PlannedDeletion[];
  readonly nextPath: string | undefined;
  /** The imported files that the cloud still needs on the device. */
  readonly waiting: Waiting;
  readonly deletedFiles: number;
  /** The server time until which nothing is deleted for its age. */
  readonly heldUntilNs: bigint | undefined;
}

/** How soon to look again at the disk and at refused deletions. */
const LOOK_EVERY_MS = 10_000;
/** Notifications come in groups, and a plan over many files takes time. */
const GATHER_MS = 500;
const FILES_AT_ONCE = 200;
/** How many steps of a plan are considered in one turn. */
const STEPS_AT_ONCE = 1000;
/** How many past deletions are looked at for one that a disk limit asked for. */
const PAST_DELETIONS = 100;

export function createDeletions(given: DeletionContext): Deletions {
  const setbacks = createSetbacks(given.clock);
  const state: LoopState = {
    settings: "",
    deletedFiles: 0,
    plan: nothing,
  };
  const prover = createProver({ ...given, setbacks });
  const reach = createCloudReach({ ...given, longestGapMs: 2 * LOOK_EVERY_MS });
  const limitHold = createLimitHold({ ...given, formerLimits: formerLimits(given) });
  const ctx = { ...given, setbacks, prover, reach, state, limitHold };
  return {
    async run(signal) {
      const deleteOrRest = async () => {
        if (await takeTurnOrMakeRoom(ctx, signal)) return;
        await ctx.deleteSignal.wait(signal, LOOK_EVERY_MS);
        await pause(GATHER_MS, signal);
      };
      await repeatWithRetries(deleteOrRest, { session: ctx.session, signal });
      await prover.untilIdle();
    },
    settle: (storage) => settle(ctx, storage),
    confirm() {
      const waiting = describe(ctx).planned.filter(({ heldForMs }) => heldForMs !== undefined);
      if (!limitHold.confirm()) return undefined;
      ctx.deleteSignal.notify();
      return waiting;
    },
    overview: () => describe(ctx),
  };
}

interface LoopState {
  settings: string;
  deletedFiles: number;
  plan: DeletionPlan;
}

interface LoopParts {
  readonly prover: Prover;
  readonly reach: CloudReach;
  readonly state: LoopState;
  readonly limitHold: LimitHold;
}

type LoopContext = DeletionContext & DeleteContext & LoopParts;

const nothing: DeletionPlan = { steps: [], neededBytes: 0, missingBytes: 0 };

/** A full disk may keep the turn from being recorded: the reserve is given up for it, and the turn is due again. */
async function takeTurnOrMakeRoom(ctx: LoopContext, signal: AbortSignal): Promise<boolean> {
  try {
    return await takeTurn(ctx, signal);
  } catch (error) {
    if (!signal.aborted && isStateUnwritable(error) && releaseReserve(ctx.stateDir)) return true;
    throw error;
  }
}

/** Plans once, and deletes one group of files; true when there may be more to do at once. */
async function takeTurn(ctx: LoopContext, signal: AbortSignal): Promise<boolean> {
  const { storageRoot, state } = ctx;
  const storage = storageRoot.current();
  if (!storage || !storageRoot.lastScan()) return false;
  await settle(ctx, storage);
  const disk = await measureDisk(storage.root);
  observeSettings(ctx);
  const reach = ctx.reach.look();
  state.plan = makePlan(ctx, disk, reach);
  showDeletionProblems(ctx, { plan: state.plan, disk, reach });
  const isCutOff = reach === "offline";
  const steps = stepsThatAreDue(ctx, state.plan, disk);
  if (!isCutOff) await lookAtFileSystems(ctx, storage, steps);
  const { ready, unproven } = sortByProof(ctx, steps.slice(0, STEPS_AT_ONCE), isCutOff);
  if (state.plan !== nothing) await prepare(ctx, storage);
  if (unproven) ctx.prover.begin(unproven, storage, signal);
  if (ready.length === 0) return false;
  state.deletedFiles += await deleteFiles(ctx, { steps: ready, storage, isCutOff, signal });
  return ready.length < steps.length;
}

/** Leaves out what a new disk limit would delete at once, as long as that waits. */
function stepsThatAreDue({ limitHold, quota, log }: LoopContext, plan: DeletionPlan, disk: Disk | undefined) {
  const steps = plan.steps.filter(isForLimit);
  const hasWaited = limitHold.msLeft() !== undefined;
  limitHold.observe(quota, { neededBytes: disk && plan.neededBytes, hasFiles: steps.length > 0 });
  if (limitHold.msLeft() === undefined) return plan.steps;
  const bytes = sumSizes(steps);
  if (!hasWaited)
    log.warn({ files: steps.length, bytes }, "a new disk limit would delete files, and waits for 10 minutes");
  return plan.steps.filter((step) => !isForLimit(step));
}

/** Returns the limits of an agent that kept no note of them, and may have deleted for them already: those are not new. */
function formerLimits({ inventory, quota }: DeletionContext): Quota | undefined {
  return inventory.lastDeleted(PAST_DELETIONS).some(isForLimit) ? quota : undefined;
}

/** Makes the trash and the reserve while there is room: on a full disk neither would be possible. */
async function prepare({ stateDir }: LoopContext, storage: Storage): Promise<void> {
  try {
    await makeTrash(join(storage.root, TRASH_NAME));
    keepReserve(stateDir);
  } catch (error) {
    if (!isFileSystemError(error)) throw error;
  }
}

/** Looks at the file systems before hashes are used: whether a hash proves anything depends on where the file lies. */
async function lookAtFileSystems(
  { fileSystems, inventory }: LoopContext,
  storage: Storage,
  steps: readonly DeletionStep[],
): Promise<void> {
  const byDevice = new Map<FileNumber, TrackedFile>();
  for (const step of steps) {
    const file = needsProof(step) ? inventory.version(step.versionId) : undefined;
    if (file) byDevice.set(file.identity.device, file);
  }
  for (const file of byDevice.values()) await fileSystems.look(storage, file);
}

/** Finds the steps that can be done now, and the first file that has to be read before. A device that is cut off needs no proof. */
function sortByProof({ inventory, proofs }: LoopContext, steps: readonly DeletionStep[], isCutOff: boolean) {
  const ready: DeletionStep[] = [];
  let unproven: DeletionStep | undefined;
  for (const step of steps) {
    if (ready.length === FILES_AT_ONCE) break;
    const file = inventory.version(step.versionId);
    if (!file) continue;
    if (isCutOff || !needsProof(step) || proofs.hashOf(file) !== undefined) ready.push(step);
    else unproven ??= step;
  }
  return { ready, unproven };
}

/** Settles deletions that were begun before a restart, or before the root went away. */
async function settle({ inventory, storageRoot, clock, treeTurns }: LoopContext, storage: Storage): Promise<void> {
  using _turn = await treeTurns.take();
  const isRootThere = async () => (await storageRoot.find()) !== undefined;
  await settleIntents({ inventory, storage, isRootThere, nowNs: clock.nowNs() });
}

function observeSettings({ board, hold, setbacks, inventory, state }: LoopContext): void {
  const settings = board.settings();
  if (settings) hold.observe(settings.retainRecordingsSeconds);
  const text = JSON.stringify(settings ?? null);
  setbacks.forget((versionId) => inventory.version(versionId) !== undefined, text !== state.settings);
  state.settings = text;
}

function makePlan(ctx: LoopContext, disk: Disk | undefined, reach: DeletionSituation["reach"]): DeletionPlan {
  const { inventory, board, serverClock, hold, setbacks, quota } = ctx;
  const policy = toPolicy(board.settings(), quota, disk);
  const isIdle = policy.retainSeconds === 0 && !policy.deletesImported && policy.maxDiskBytes === undefined;
  if (isIdle && policy.minFreeBytes === undefined) return nothing;
  return planDeletions({
    files: inventory
      .files()
      .filter(({ state }) => state !== "away")
      .toArray(),
    policy,
    freeBytes: disk?.freeBytes,
    reach,
    serverNowNs: serverClock.nowNs(),
    isRetentionHeld: hold.heldUntilNs() !== undefined,
    isWorthTrying: (id, reason) => !ctx.isInRecheck(id) && setbacks.isWorthTrying(id, reason),
    isLinked: setbacks.isLinked,
  });
}

function describe({ inventory, hold, limitHold, setbacks, state }: LoopContext): DeletionOverview {
  const { steps } = state.plan;
  const left = steps.filter(({ versionId }) => inventory.version(versionId) !== undefined);
  const heldForMs = limitHold.msLeft();
  const planned = Map.groupBy(left, ({ reason }) => reason)
    .entries()
    .map(([reason, all]) => ({
      ...{ reason, files: all.length, bytes: sumSizes(all) },
      heldForMs: isForLimit({ reason }) ? heldForMs : undefined,
    }));
  const nextPath = left[0] && inventory.version(left[0].versionId)?.path;
  const { deletedFiles } = state;
  const waiting = setbacks.awaitingSafety();
  return { planned: [...planned], nextPath, waiting, deletedFiles, heldUntilNs: hold.heldUntilNs() };
}

function sumSizes(steps: readonly DeletionStep[]): number {
  return steps.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
}
