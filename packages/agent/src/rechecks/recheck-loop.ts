import { SourceChangedError } from "@downlink/recordings";
import type { Log } from "../diagnostics/log.ts";
import type { ProblemBoard } from "../diagnostics/problems.ts";
import type { FileHash } from "../files/hash-file.ts";
import { FileMovedError, type Storage } from "../files/open-tracked.ts";
import type { ExaminationNotes } from "../indexing/examination-notes.ts";
import type { Inventory } from "../inventory/inventory.ts";
import type { InventoryStep, TrackedFile } from "../inventory/tracked-file.ts";
import { createWakeSignal, pause, type WakeSignal } from "../loops/wake-signal.ts";
import type { Clock } from "../system/clock.ts";
import { isFileSystemError } from "../system/system-error.ts";
import type { Recheck, RecheckBoard } from "./recheck-board.ts";
import { type Comparison, recheckFile } from "./recheck-file.ts";

export interface RecheckContext {
  readonly clock: Clock;
  readonly log: Log;
  readonly inventory: Inventory;
  readonly problems: ProblemBoard;
  readonly rechecks: RecheckBoard;
  readonly notes: Pick<ExaminationNotes, "standingOf" | "begin" | "acquit">;
  /** Undefined while the root is missing. */
  readonly storage: () => Storage | undefined;
  /** Whether a request waits for the file. */
  readonly isWanted: (versionId: string) => boolean;
  /** The step that records a hash, and whether it is a proof. */
  readonly hashStep: (file: Pick<TrackedFile, "versionId" | "identity">, hash: FileHash) => InventoryStep;
  /** To be notified when a scan is needed to find out what happened to a file. */
  readonly scanSignal: WakeSignal;
  /** To be notified when files are decided. */
  readonly reportSignal: WakeSignal;
  readonly workSignal: WakeSignal;
  readonly deleteSignal: WakeSignal;
}

export interface Rechecks {
  /** Says that there may be something to read. */
  notify(): void;
  run(signal: AbortSignal): Promise<void>;
}

/** There are two kinds, so that files that take hours do not hold up those that take moments. Whole files are read one after the other. */
const kinds = [
  { isWholeRead: false, parallel: 4 },
  { isWholeRead: true, parallel: 1 },
] as const;
type Kind = (typeof kinds)[number];

/** Decisions wait this long, or for this many others, so that one write to the disk records them together. */
const commitEvery = { files: 200, ms: 250 };
/** After this many files, the loop looks again at what is due: wanted files come first. */
const FILES_A_TURN = 1000;
/** A wanted file that cannot be read this often becomes another version, with the reason. */
const MAX_READ_FAILURES = 3;

/** Finds out whether files with another time or inode still hold the same content. */
export function createRechecks(ctx: RecheckContext): Rechecks {
  const wakeSignals = kinds.map(() => createWakeSignal());
  return {
    notify() {
      for (const wakeSignal of wakeSignals) wakeSignal.notify();
    },
    run: async (signal) => {
      await Promise.all(kinds.map((kind, index) => runKind(ctx, { ...kind, wakeSignal: wakeSignals[index]! }, signal)));
    },
  };
}

async function runKind(
  ctx: RecheckContext,
  kind: Kind & { readonly wakeSignal: WakeSignal },
  signal: AbortSignal,
): Promise<void> {
  const { rechecks } = ctx;
  while (!signal.aborted) {
    const storage = ctx.storage();
    const due = storage ? rechecks.due(kind.isWholeRead) : [];
    if (storage && due.length > 0) await decideAll(ctx, { due: byUrgency(ctx, due), storage, kind, signal });
    await kind.wakeSignal.wait(signal, storage && rechecks.nextDueMs(kind.isWholeRead));
  }
}

function byUrgency({ isWanted }: RecheckContext, due: readonly Recheck[]): Recheck[] {
  const { wanted = [], others = [] } = Object.groupBy(due, ({ versionId }) =>
    isWanted(versionId) ? "wanted" : "others",
  );
  return [...wanted, ...others].slice(0, FILES_A_TURN);
}

interface Turn {
  readonly due: readonly Recheck[];
  readonly storage: Storage;
  readonly kind: Kind;
  readonly signal: AbortSignal;
}

async function decideAll(ctx: RecheckContext, { due, storage, kind, signal }: Turn): Promise<void> {
  const decided: InventoryStep[] = [];
  let lastCommitMs = ctx.clock.monotonicMs();
  const queue = due.values();
  const worker = async () => {
    for (const recheck of queue) {
      if (signal.aborted) return;
      decided.push(...(await decide(ctx, recheck, { storage, signal })));
      const isTime = ctx.clock.monotonicMs() - lastCommitMs >= commitEvery.ms;
      if (!isTime && decided.length < commitEvery.files) continue;
      commit(ctx, decided.splice(0));
      lastCommitMs = ctx.clock.monotonicMs();
    }
  };
  await Promise.all(Array.from({ length: kind.parallel }, worker));
  commit(ctx, decided.splice(0));
  await pause(0, signal);
}

/** Records first and decides then: an upload that begins in between would find the file moved. */
function commit({ inventory, rechecks, ...wakeSignals }: RecheckContext, steps: readonly InventoryStep[]): void {
  if (steps.length === 0) return;
  inventory.change(steps);
  for (const step of steps) if (step.do === "renew" || step.do === "event") rechecks.forget(step.versionId);
  for (const wakeSignal of [
    wakeSignals.scanSignal,
    wakeSignals.reportSignal,
    wakeSignals.workSignal,
    wakeSignals.deleteSignal,
  ])
    wakeSignal.notify();
}

async function decide(
  ctx: RecheckContext,
  recheck: Recheck,
  { storage, signal }: Pick<Turn, "storage" | "signal">,
): Promise<InventoryStep[]> {
  const { inventory, rechecks } = ctx;
  const { versionId, path } = recheck;
  const file = inventory.version(versionId);
  if (file?.identity !== recheck.was || file.path !== path || file.away) return drop(ctx, recheck);
  try {
    return await compare(ctx, { file, recheck, storage, signal });
  } catch (error) {
    if (signal.aborted) return [];
    if (error instanceof FileMovedError || error instanceof SourceChangedError) return drop(ctx, recheck);
    if (!isFileSystemError(error)) throw error;
    ctx.problems.raise("FileUnreadable", `${path}: ${error.message}`);
    const failures = rechecks.postpone(versionId);
    return failures >= MAX_READ_FAILURES && ctx.isWanted(versionId) ? stepsOfOther(recheck) : [];
  }
}

interface Comparing extends Pick<Turn, "storage" | "signal"> {
  readonly file: TrackedFile;
  readonly recheck: Recheck;
}

/**
 * Should the comparison end this process, a note tells the next one which file it was, and the file becomes another version that
 * is set aside. No note is made where all bytes are read: that ends no process, and takes so long that processes are killed
 * meanwhile for other reasons.
 */
async function compare(ctx: RecheckContext, { file, recheck, ...turn }: Comparing): Promise<InventoryStep[]> {
  const { inventory, clock, notes } = ctx;
  const there = { ...file, identity: recheck.identity };
  const isExamined = recheck.by === "ends";
  if (isExamined && notes.standingOf(there, "index") === "setAside") return stepsOfOther(recheck);
  using _note = isExamined ? notes.begin(there, "index") : undefined;
  const comparison = await recheckFile(file, recheck, { inventory, clock, ...turn });
  if (isExamined) notes.acquit(there, "index");
  return conclude(ctx, recheck, comparison);
}

/** The next scan finds out what became of the file. */
function drop({ rechecks, scanSignal }: RecheckContext, { versionId }: Recheck): [] {
  rechecks.forget(versionId);
  scanSignal.notify();
  return [];
}

function conclude({ log, hashStep }: RecheckContext, recheck: Recheck, { isSame, hash }: Comparison): InventoryStep[] {
  const { versionId, was, identity, path } = recheck;
  log[isSame ? "debug" : "info"]({ path }, isSame ? "touched, with the same content" : "its content has changed");
  if (!isSame) return stepsOfOther(recheck);
  const renewed = { do: "renew", versionId, was, identity } as const;
  return hash ? [renewed, hashStep({ versionId, identity }, hash)] : [renewed];
}

function stepsOfOther({ versionId, was, path, identity }: Recheck): InventoryStep[] {
  return [
    { do: "event", versionId, event: "changed", was },
    { do: "track", path, identity },
  ];
}
