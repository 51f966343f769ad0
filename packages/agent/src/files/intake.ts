import { SourceChangedError } from "@downlink/recordings";
import { type Bell, pause } from "../bell.ts";
import type { Clock } from "../clock.ts";
import { examineFile, isFileSystemError, unreadableVerdict, type Verdict } from "../indexing/examine-file.ts";
import { isBeforeIndexing, nextState } from "../inventory/file-state.ts";
import type { Inventory } from "../inventory/inventory.ts";
import type { InventoryStep, TrackedFile } from "../inventory/tracked-file.ts";
import type { Log } from "../log.ts";
import type { ProblemBoard } from "../problems.ts";
import { isSameIdentity } from "./identity.ts";
import { checkUnmoved, FileMoved, lookAt, openTracked, type Storage } from "./open-tracked.ts";
import type { YoungFiles } from "./young-files.ts";

export interface IntakeContext {
  readonly clock: Clock;
  readonly log: Log;
  readonly inventory: Inventory;
  readonly young: YoungFiles;
  readonly problems: ProblemBoard;
  /** Undefined while the root is missing. */
  readonly storage: () => Storage | undefined;
  /** Rings when there may be something to look at. */
  readonly youngBell: Bell;
  /** To be rung when something is to be reported. */
  readonly reportBell: Bell;
  /** To be rung when a scan is needed to find out what happened to a file. */
  readonly scanBell: Bell;
}

/** Files examined at once: enough to hide the disk's delays, few enough not to be noticed. */
const PARALLEL = 4;
/** Findings wait at most so long, or for so many others, to be recorded with one write to the disk. */
const COMMIT_EVERY = { files: 200, ms: 250 };

/** Looks at young files as they become due, until aborted. */
export async function runIntake(ctx: IntakeContext, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const storage = ctx.storage();
    const due = storage ? ctx.young.takeDue(ctx.clock.monotonicMs()) : [];
    if (storage && due.length > 0) await takeIn(ctx, { storage, due, signal });
    const nextMs = storage && ctx.young.nextDueMs();
    if (nextMs === undefined) await ctx.youngBell.wait(signal);
    else await ctx.youngBell.wait(signal, Math.max(1, nextMs - ctx.clock.monotonicMs()));
  }
}

async function takeIn(
  ctx: IntakeContext,
  work: { storage: Storage; due: readonly string[]; signal: AbortSignal },
): Promise<void> {
  const found: InventoryStep[] = [];
  let lastCommitMs = ctx.clock.monotonicMs();
  const queue = work.due.values();
  const worker = async () => {
    for (const versionId of queue) {
      if (work.signal.aborted) return;
      const file = ctx.inventory.version(versionId);
      if (file && isBeforeIndexing(file.state)) found.push(...(await lookAgain(ctx, file, work)));
      const isTime = ctx.clock.monotonicMs() - lastCommitMs >= COMMIT_EVERY.ms;
      if (found.length >= COMMIT_EVERY.files || (isTime && found.length > 0)) commit(ctx, found.splice(0));
      if (isTime) lastCommitMs = ctx.clock.monotonicMs();
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, worker));
  commit(ctx, found.splice(0));
  await pause(0, work.signal);
}

function commit(ctx: IntakeContext, steps: readonly InventoryStep[]): void {
  if (steps.length === 0) return;
  ctx.inventory.change(steps);
  for (const step of steps) {
    if (step.do !== "event") continue;
    const file = ctx.inventory.version(step.versionId);
    if (!file || !isBeforeIndexing(file.state)) ctx.young.forget(step.versionId);
  }
  ctx.reportBell.ring();
}

/** What to record about a young file now; nothing when it has to wait. */
async function lookAgain(
  ctx: IntakeContext,
  file: TrackedFile,
  { storage, signal }: { storage: Storage; signal: AbortSignal },
): Promise<InventoryStep[]> {
  const { versionId } = file;
  try {
    const identity = await lookAt(storage, file.path);
    if (!identity) throw new FileMoved(file.path, "missing");
    if (!isSameIdentity(identity, file.identity)) {
      ctx.young.restart(versionId, identity, ctx.clock.monotonicMs());
      return [{ do: "event", versionId, event: "changed", identity }];
    }
    const rest = ctx.young.restOf(versionId, ctx.clock.monotonicMs());
    if (rest === "moving") return wait(ctx, versionId);
    const verdict = await examineOpened(file, { storage, signal, isOverdue: rest === "overdue" });
    return conclude(ctx, file, verdict);
  } catch (error) {
    if (signal.aborted) return [];
    if (isFileSystemError(error)) return conclude(ctx, file, unreadableVerdict(error));
    if (!(error instanceof FileMoved || error instanceof SourceChangedError)) throw error;
    ctx.scanBell.ring();
    return wait(ctx, versionId);
  }
}

function wait(ctx: IntakeContext, versionId: string): [] {
  ctx.young.postpone(versionId, ctx.clock.monotonicMs());
  return [];
}

async function examineOpened(
  file: TrackedFile,
  { storage, ...options }: { storage: Storage; signal: AbortSignal; isOverdue: boolean },
): Promise<Verdict> {
  const { path, identity } = file;
  await using source = await openTracked(storage, path, identity);
  const verdict = await examineFile(file, source, options);
  await checkUnmoved(storage, { source, path, identity });
  return verdict;
}

function conclude(ctx: IntakeContext, file: TrackedFile, verdict: Verdict): InventoryStep[] {
  const { versionId, path, state } = file;
  if (verdict.event === "readFailed")
    ctx.problems.raise("FileUnreadable", `${path}: ${verdict.findings?.reason?.text}`);
  if (verdict.event === "readFailed" || verdict.event === "unfinished") {
    wait(ctx, versionId);
    if (nextState(state, verdict.event) === state) return [];
  } else {
    ctx.log.info({ path, reason: verdict.findings?.reason?.code }, `file ${verdict.event}`);
  }
  return [{ do: "event", versionId, ...verdict }];
}
