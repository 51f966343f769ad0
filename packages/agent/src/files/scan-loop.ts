import type { WakeSignal } from "../loops/wake-signal.ts";
import { measureDisk } from "../system/measure-disk.ts";
import type { DiskForecast } from "./disk-forecast.ts";
import type { MarkerWatch } from "./marker-watch.ts";
import type { Storage } from "./open-tracked.ts";
import { type ScanContext, scanOnce } from "./scan-once.ts";
import type { StorageRoot } from "./storage-root.ts";

export interface ScanLoopContext extends ScanContext {
  readonly storageRoot: StorageRoot;
  readonly scanIntervalMs: number;
  /** Takes over another card that is in now; true when there was one. */
  readonly changeCards: () => Promise<boolean>;
  readonly markerWatch: MarkerWatch;
  readonly forecast: DiskForecast;
  /** Puts back files whose deletion the agent's end or the root's absence interrupted, so that no scan takes them for gone. */
  readonly settleDeletions: (storage: Storage) => Promise<void>;
  readonly scanSignal: WakeSignal;
  /** To be notified after each scan. */
  readonly youngSignal: WakeSignal;
  readonly reportSignal: WakeSignal;
  readonly workSignal: WakeSignal;
  readonly deleteSignal: WakeSignal;
  readonly salvageSignal: WakeSignal;
  readonly cutSignal: WakeSignal;
}

/** How soon to look again for a root that is missing. */
const MISSING_ROOT_MS = 1000;
/**
 * Scans take at most one part in so many of a core's time, however many hints there are. They take at most half of the time that passes,
 * because on a busy machine or a slow disk a scan takes long and costs little.
 */
const SCAN_SHARE = 5;
/** The file system notifies of several changes in a row; one scan is enough for them. */
const GATHER_HINTS_MS = 100;

/** Keeps the inventory up to date with the tree by a scan at each interval, and one soon after each hint. */
export async function runScans(ctx: ScanLoopContext, signal: AbortSignal): Promise<void> {
  let absent: ReadonlySet<string> = new Set();
  let isThere = false;
  let number = 0;
  while (!signal.aborted) {
    const stopWatch = startStopWatch(ctx);
    if (await takeOverCard(ctx)) [isThere, absent] = [false, new Set()];
    const storage = await ctx.storageRoot.find();
    ctx.markerWatch.follow(storage !== undefined);
    if (!storage) {
      isThere = false;
      ctx.watch?.follow(new Map()); // To the system, a root that comes back is another one.
      await ctx.scanSignal.wait(signal, Math.min(MISSING_ROOT_MS, ctx.scanIntervalMs));
      continue;
    }
    if (!isThere) await ctx.settleDeletions(storage);
    isThere = true;
    number += 1;
    absent = await scanOnce(ctx, { number, storage, absent, signal });
    const tookMs = stopWatch.elapsedMs();
    ctx.storageRoot.noteScan(tookMs);
    const disk = await measureDisk(storage.root);
    if (disk) ctx.forecast.note(disk.freeBytes);
    wakeOthers(ctx);
    await restAfterScan(ctx, { restMs: stopWatch.restMs(tookMs), hasAbsent: absent.size > 0, signal });
  }
}

/** Measures one scan, and how long the agent has to rest after it. */
function startStopWatch({ clock }: ScanLoopContext) {
  const startMs = clock.monotonicMs();
  const startCpu = process.cpuUsage();
  return {
    elapsedMs: () => clock.monotonicMs() - startMs,
    restMs(tookMs: number) {
      const { user, system } = process.cpuUsage(startCpu);
      return Math.max(tookMs, ((user + system) / 1000) * SCAN_SHARE);
    },
  };
}

/** These loops wait for a root that is there and was scanned, so they are notified also when nothing changed. */
function wakeOthers(ctx: ScanLoopContext): void {
  const { youngSignal, reportSignal, workSignal, deleteSignal, salvageSignal, cutSignal } = ctx;
  const wakeSignals = [youngSignal, reportSignal, workSignal, deleteSignal, salvageSignal, cutSignal];
  for (const wakeSignal of wakeSignals) wakeSignal.notify();
}

/** A file that was not found is looked for again soon; otherwise a hint or the interval ends the rest. */
async function restAfterScan(
  { clock, scanSignal, scanIntervalMs }: ScanLoopContext,
  { restMs, hasAbsent, signal }: { restMs: number; hasAbsent: boolean; signal: AbortSignal },
): Promise<void> {
  const endedMs = clock.monotonicMs();
  if (!hasAbsent) await scanSignal.wait(signal, scanIntervalMs);
  const leftMs = restMs - (clock.monotonicMs() - endedMs); // A hint long after the last scan need not wait.
  await gatherHints(scanSignal, Math.max(GATHER_HINTS_MS, leftMs), signal);
}

async function takeOverCard(ctx: ScanLoopContext): Promise<boolean> {
  using _turn = await ctx.treeTurns.take();
  if (!(await ctx.changeCards())) return false;
  ctx.watch?.follow(new Map());
  wakeOthers(ctx);
  return true;
}

/** Waits for the whole time, whatever hints arrive meanwhile. */
async function gatherHints(wakeSignal: WakeSignal, delayMs: number, signal: AbortSignal): Promise<void> {
  const endMs = performance.now() + delayMs;
  for (let leftMs = delayMs; leftMs > 0 && !signal.aborted; leftMs = endMs - performance.now()) {
    await wakeSignal.wait(signal, leftMs);
  }
}
