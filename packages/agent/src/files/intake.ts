import { SourceChangedError } from "@downlink/recordings";
import type { Log } from "../diagnostics/log.ts";
import type { ProblemBoard } from "../diagnostics/problems.ts";
import { examination } from "../durable/durable-steps.ts";
import type { ExaminationNotes } from "../indexing/examination-notes.ts";
import {
  examineFile,
  examineSummary,
  setAsideVerdict,
  unreadableVerdict,
  type Verdict,
} from "../indexing/examine-file.ts";
import { type FileEvent, isBeforeIndexing, nextState } from "../inventory/file-state.ts";
import { isSameIdentity } from "../inventory/identity.ts";
import type { Inventory } from "../inventory/inventory.ts";
import type { InventoryStep, TrackedFile } from "../inventory/tracked-file.ts";
import { pause, type WakeSignal } from "../loops/wake-signal.ts";
import type { Clock } from "../system/clock.ts";
import { isFileSystemError } from "../system/system-error.ts";
import { checkUnmoved, FileMovedError, lookAt, openTracked, type Storage } from "./open-tracked.ts";
import type { YoungFiles } from "./young-files.ts";

export interface IntakeContext {
  readonly clock: Clock;
  readonly log: Log;
  readonly inventory: Inventory;
  readonly young: YoungFiles;
  readonly notes: ExaminationNotes;
  readonly problems: ProblemBoard;
  /** Undefined while the root is missing. */
  readonly storage: () => Storage | undefined;
  /** Is notified when there may be something to look at. */
  readonly youngSignal: WakeSignal;
  /** Is notified when a file was put off because a quick look was not enough. */
  readonly putOffSignal: WakeSignal;
  /** To be notified when something is to be reported. */
  readonly reportSignal: WakeSignal;
  /** To be notified when a scan is needed to find out what happened to a file. */
  readonly scanSignal: WakeSignal;
}

/** How many summaries are read at once: enough to hide the disk's delays, few enough not to disturb the robot. */
const PARALLEL = 4;
/** Findings wait this long, or for this many others, so that one write to the disk records them together. */
const commitEvery = { files: 200, ms: 250 };

/**
 * Looks at young files as they become due, until aborted. Quick looks read the summaries of several files at once. Beside them,
 * long looks go through one file after the other whose summary is not enough, or that may have ended a process before. So no file
 * holds up the others.
 */
export async function runIntake(ctx: IntakeContext, signal: AbortSignal): Promise<void> {
  const closeNotes = () => ctx.notes.close();
  signal.addEventListener("abort", closeNotes, { once: true });
  const failed = new AbortController();
  const both = AbortSignal.any([signal, failed.signal]);
  const lanes = [runQuickLooks(ctx, both), runLongLooks(ctx, both)];
  for (const lane of lanes) lane.catch(() => failed.abort());
  const ends = await Promise.allSettled(lanes);
  signal.removeEventListener("abort", closeNotes);
  const failure = ends.find((end) => end.status === "rejected");
  if (failure) throw failure.reason;
}

async function runQuickLooks(ctx: IntakeContext, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const storage = ctx.storage();
    const due = storage ? ctx.young.takeDue(ctx.clock.monotonicMs()) : [];
    if (storage && due.length > 0) await takeIn(ctx, { storage, due, signal });
    const nextMs = storage && ctx.young.nextDueMs();
    if (nextMs === undefined) await ctx.youngSignal.wait(signal);
    else await ctx.youngSignal.wait(signal, Math.max(1, nextMs - ctx.clock.monotonicMs()));
  }
}

async function runLongLooks(ctx: IntakeContext, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const storage = ctx.storage();
    const due = storage ? nextLongLooks(ctx) : [];
    if (storage && due.length > 0) await lookThrough(ctx, { storage, due, signal, look: examineFile }, 1);
    else await ctx.putOffSignal.wait(signal, pauseMsOf(ctx));
  }
}

/** The time until the next file is due; a suspect that is due waits for the quick looks to end. */
function pauseMsOf({ young, clock }: IntakeContext): number | undefined {
  const nextMs = young.nextPutOffMs();
  return nextMs === undefined ? undefined : Math.max(LOOK_AGAIN_MS, nextMs - clock.monotonicMs());
}

const LOOK_AGAIN_MS = 500;

/** A suspect is examined alone and after all others: should it end this process, no other file is left behind. */
function nextLongLooks({ young, inventory, notes, clock }: IntakeContext): string[] {
  const nowMs = clock.monotonicMs();
  const due = young.takePutOff(nowMs);
  const isClear = (versionId: string) => {
    const file = inventory.version(versionId);
    return file === undefined || notes.standingOf(file, "index") !== "suspect";
  };
  const clear = due.filter(isClear);
  if (clear.length > 0 || due.length === 0) return clear;
  const areOthersDone = (young.nextDueMs() ?? Number.POSITIVE_INFINITY) > nowMs;
  return areOthersDone ? due.slice(0, 1) : [];
}

async function takeIn(
  ctx: IntakeContext,
  work: { storage: Storage; due: readonly string[]; signal: AbortSignal },
): Promise<void> {
  await lookThrough(ctx, { ...work, look: examineSummary }, PARALLEL);
  await pause(0, work.signal);
}

async function lookThrough(
  ctx: IntakeContext,
  work: Look & { readonly due: readonly string[] },
  parallel: number,
): Promise<void> {
  const batch = createBatch(ctx);
  const queue = work.due.values();
  const lookAtRest = async () => {
    for (const versionId of queue) {
      if (work.signal.aborted) return;
      const file = ctx.inventory.version(versionId);
      if (file && isBeforeIndexing(file.state)) batch.add(await lookAgain(ctx, file, work));
      batch.commitWhenDue();
    }
  };
  await Promise.all(Array.from({ length: parallel }, lookAtRest));
  batch.commit();
}

/** Gathers what the looks found, so that one write to the disk records many findings. */
function createBatch(ctx: IntakeContext) {
  const found: InventoryStep[] = [];
  let lastCommitMs = ctx.clock.monotonicMs();
  const commitFound = () => commit(ctx, found.splice(0));
  return {
    add: (steps: readonly InventoryStep[]) => void found.push(...steps),
    commit: commitFound,
    commitWhenDue() {
      const isTime = ctx.clock.monotonicMs() - lastCommitMs >= commitEvery.ms;
      if (isTime || found.length >= commitEvery.files) commitFound();
      if (isTime) lastCommitMs = ctx.clock.monotonicMs();
    },
  };
}

function commit(ctx: IntakeContext, steps: readonly InventoryStep[]): void {
  if (steps.length === 0) return;
  ctx.inventory.change(steps);
  for (const step of steps) {
    if (step.do !== "event") continue;
    const file = ctx.inventory.version(step.versionId);
    if (!file || !isBeforeIndexing(file.state)) ctx.young.forget(step.versionId);
  }
  ctx.reportSignal.notify();
}

interface Look {
  readonly storage: Storage;
  readonly signal: AbortSignal;
  /** Returns undefined where the look is not enough. */
  readonly look: (...args: Parameters<typeof examineFile>) => Promise<Verdict | undefined>;
}

/** Returns what to record about a young file now; nothing if it has to wait. */
async function lookAgain(ctx: IntakeContext, file: TrackedFile, work: Look): Promise<InventoryStep[]> {
  const { versionId } = file;
  const { storage, signal, look } = work;
  try {
    const identity = await lookAt(storage, file.path);
    if (!identity) throw new FileMovedError(file.path, "missing");
    if (!isSameIdentity(identity, file.identity)) {
      ctx.young.restart(versionId, identity, ctx.clock.monotonicMs());
      return [{ do: "event", versionId, event: "changed", identity }];
    }
    const rest = ctx.young.restOf(versionId, ctx.clock.monotonicMs());
    if (rest === "moving") return wait(ctx, versionId);
    const standing = ctx.notes.standingOf(file, "index");
    if (standing === "setAside") return setAside(ctx, file);
    if (standing === "suspect" && look === examineSummary) return putOff(ctx, versionId);
    const verdict = await examineNoted(ctx, file, { ...work, isOverdue: rest === "overdue" });
    return verdict ? conclude(ctx, file, verdict) : putOff(ctx, versionId);
  } catch (error) {
    if (signal.aborted) return [];
    if (isFileSystemError(error)) return conclude(ctx, file, unreadableVerdict(error));
    if (!(error instanceof FileMovedError || error instanceof SourceChangedError)) throw error;
    ctx.scanSignal.notify();
    return wait(ctx, versionId);
  }
}

/** Puts the file off until a long look. */
function putOff({ young, putOffSignal }: IntakeContext, versionId: string): [] {
  young.putOff(versionId);
  putOffSignal.notify();
  return [];
}

function setAside(ctx: IntakeContext, file: TrackedFile): InventoryStep[] {
  const verdict = setAsideVerdict();
  ctx.problems.raise("FileSetAside", `${file.path}: ${verdict.findings.reason?.text}`);
  wait(ctx, file.versionId);
  const isKnown = ctx.inventory.findings(file.versionId)?.reason?.code === verdict.findings.reason?.code;
  return isKnown ? [] : [{ do: "event", versionId: file.versionId, ...verdict }];
}

function wait(ctx: IntakeContext, versionId: string): [] {
  ctx.young.postpone(versionId, ctx.clock.monotonicMs());
  return [];
}

/** Should the examination end this process, the note tells the next process which file it was. */
async function examineNoted(
  { notes }: IntakeContext,
  file: TrackedFile,
  work: Look & { readonly isOverdue: boolean },
): Promise<Verdict | undefined> {
  using _note = notes.begin(file, "index");
  const verdict = await examination.tracePromise(() => examineOpened(file, work), { path: file.path });
  // A file without an end was hardly read: the search for readable content begins only once it is overdue.
  if (verdict && verdict.event !== "unfinished") notes.acquit(file, "index");
  return verdict;
}

async function examineOpened(
  file: TrackedFile,
  { storage, look, ...options }: Look & { readonly isOverdue: boolean },
): Promise<Verdict | undefined> {
  const { path, identity } = file;
  await using source = await openTracked(storage, path, identity);
  const verdict = await look(file, source, options);
  await checkUnmoved(storage, { source, path, identity });
  return verdict;
}

/** Texts for the log; other events are not logged. */
const words: Partial<Record<FileEvent, string>> = {
  finished: "a recording is indexed",
  foundEmpty: "a recording holds no message",
  foundDamaged: "a file cannot be read as a recording",
  stayedUnfinished: "a recording has no end, and none is expected any more",
};

function conclude(ctx: IntakeContext, file: TrackedFile, verdict: Verdict): InventoryStep[] {
  const { versionId, path, state } = file;
  if (verdict.event === "readFailed")
    ctx.problems.raise("FileUnreadable", `${path}: ${verdict.findings?.reason?.text}`);
  if (verdict.event === "readFailed" || verdict.event === "unfinished") {
    wait(ctx, versionId);
    if (nextState(state, verdict.event) === state) return [];
  } else {
    const { code, text } = verdict.findings?.reason ?? {};
    ctx.log.info({ path, code, reason: text }, words[verdict.event] ?? verdict.event);
  }
  return [{ do: "event", versionId, ...verdict }];
}
