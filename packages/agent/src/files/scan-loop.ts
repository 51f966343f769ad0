import { setImmediate } from "node:timers/promises";
import type { ProblemBoard } from "../diagnostics/problems.ts";
import { hashHeadAndTail } from "../indexing/head-tail.ts";
import { setAsideCode } from "../indexing/reason-codes.ts";
import { isBeforeIndexing } from "../inventory/file-state.ts";
import type { FileIdentity } from "../inventory/identity.ts";
import type { Inventory } from "../inventory/inventory.ts";
import type { InventoryStep } from "../inventory/tracked-file.ts";
import type { Bell } from "../loops/bell.ts";
import type { Turns } from "../loops/turns.ts";
import type { Clock } from "../system/clock.ts";
import { measureDisk } from "../system/measure-disk.ts";
import { isFileSystemError } from "../system/system-error.ts";
import type { DiskForecast } from "./disk-forecast.ts";
import type { MarkerWatch } from "./marker-watch.ts";
import { FileMoved, openTracked, type Storage } from "./open-tracked.ts";
import { type Move, planScan, renewalOf, type Suspect } from "./plan-scan.ts";
import { type Scan, scanTree } from "./scan.ts";
import type { StorageRoot } from "./storage-root.ts";
import type { DirectoryWatch } from "./watch.ts";
import type { YoungFiles } from "./young-files.ts";

export interface ScanContext {
  readonly clock: Clock;
  readonly inventory: Inventory;
  readonly young: YoungFiles;
  readonly problems: ProblemBoard;
  readonly storageRoot: StorageRoot;
  /** Takes over another card that is in now: true when it did. */
  readonly changeCards: () => Promise<boolean>;
  readonly markerWatch: MarkerWatch;
  /** Everything on the card that is in was found. */
  readonly onScanned: () => void;
  readonly forecast: DiskForecast;
  readonly matches: (path: string) => boolean;
  readonly scanIntervalMs: number;
  /** Who deletes files and who scans take turns: neither sees the other halfway. */
  readonly treeTurns: Turns;
  /** Puts back what was on its way out when the agent or the root went: nothing may take it for gone. */
  readonly settleDeletions: (storage: Storage) => Promise<void>;
  /** Takes the files of which only the content tells whether they are the versions that are known. */
  readonly noteSuspects: (suspects: readonly Suspect[]) => void;
  /** Absent: found by scanning only. */
  readonly watch?: DirectoryWatch;
  readonly scanBell: Bell;
  /** To be rung after each scan. */
  readonly youngBell: Bell;
  readonly reportBell: Bell;
  readonly workBell: Bell;
  readonly deleteBell: Bell;
}

/** How soon to look again for a root that is missing. */
const MISSING_ROOT_MS = 1000;
/**
 * Of a core's time, at most one part in so many is spent scanning, however many hints there are; of the time that passes,
 * half: on a busy machine or a slow disk a scan takes long and costs little.
 */
const SCAN_SHARE = 5;
/** The file system tells of several changes in a row; one scan is enough for them. */
const GATHER_HINTS_MS = 100;
const STEPS_PER_COMMIT = 2000;

/** Keeps the inventory true to the tree: a scan at each interval, and soon after each hint. */
export async function runScans(ctx: ScanContext, signal: AbortSignal): Promise<void> {
  let absent: ReadonlySet<string> = new Set();
  let isThere = false;
  let number = 0;
  while (!signal.aborted) {
    const startMs = ctx.clock.monotonicMs();
    const startCpu = process.cpuUsage();
    if (await takeOverCard(ctx)) [isThere, absent] = [false, new Set()];
    const storage = await ctx.storageRoot.find();
    ctx.markerWatch.follow(storage !== undefined);
    if (!storage) {
      isThere = false;
      ctx.watch?.follow(new Map()); // A root that comes back is another one to the system.
      await ctx.scanBell.wait(signal, Math.min(MISSING_ROOT_MS, ctx.scanIntervalMs));
      continue;
    }
    if (!isThere) await ctx.settleDeletions(storage);
    isThere = true;
    number += 1;
    absent = await scanOnce(ctx, { number, storage, absent, signal });
    const tookMs = ctx.clock.monotonicMs() - startMs;
    ctx.storageRoot.noteScan(tookMs);
    const disk = await measureDisk(storage.root);
    if (disk) ctx.forecast.note(disk.freeBytes);
    // Whether the root is there and was scanned decides in each of them, also when nothing changed.
    for (const bell of [ctx.youngBell, ctx.reportBell, ctx.workBell, ctx.deleteBell]) bell.ring();
    const { user, system } = process.cpuUsage(startCpu);
    const restMs = Math.max(tookMs, ((user + system) / 1000) * SCAN_SHARE);
    const endedMs = ctx.clock.monotonicMs();
    if (absent.size === 0) await ctx.scanBell.wait(signal, ctx.scanIntervalMs);
    const leftMs = restMs - (ctx.clock.monotonicMs() - endedMs); // a hint long after the last scan need not wait
    await gatherHints(ctx.scanBell, Math.max(GATHER_HINTS_MS, leftMs), signal);
  }
}

async function takeOverCard(ctx: ScanContext): Promise<boolean> {
  using _turn = await ctx.treeTurns.take();
  if (!(await ctx.changeCards())) return false;
  ctx.watch?.follow(new Map());
  for (const bell of [ctx.youngBell, ctx.reportBell, ctx.workBell, ctx.deleteBell]) bell.ring();
  return true;
}

/** Waits for the time to pass, whatever rings meanwhile. */
async function gatherHints(bell: Bell, delayMs: number, signal: AbortSignal): Promise<void> {
  const endMs = performance.now() + delayMs;
  for (let leftMs = delayMs; leftMs > 0 && !signal.aborted; leftMs = endMs - performance.now()) {
    await bell.wait(signal, leftMs);
  }
}

interface ScanTurn {
  /** Counts up with each scan, from 1. */
  readonly number: number;
  readonly storage: Storage;
  /** The versions that were not found last time. */
  readonly absent: ReadonlySet<string>;
  readonly signal: AbortSignal;
}

/** Returns the versions that were not found this time. */
async function scanOnce(ctx: ScanContext, { number, storage, absent, signal }: ScanTurn): Promise<ReadonlySet<string>> {
  using _turn = await ctx.treeTurns.take();
  const { inventory } = ctx;
  // What a scan found once matches: patterns make more garbage than all the rest of a scan.
  const matches = (path: string) => (inventory.at(path)?.foundIn ?? 0) > 0 || ctx.matches(path);
  // Beside the plan, which would hold all paths: somebody may have changed the owner of a hundred thousand files.
  const renewals: InventoryStep[] = [];
  const isKnown = (path: string, identity: FileIdentity) => {
    if (inventory.noteFound(path, identity, number)) return true;
    const file = inventory.at(path);
    const renewal = file && renewalOf(file, identity);
    if (renewal) renewals.push(renewal);
    return renewal !== undefined;
  };
  const scan = await scanTree({ root: storage.root, rootDevice: storage.device, matches, isKnown, signal });
  // Whatever was seen is worth nothing if the root went away meanwhile.
  if (!(await ctx.storageRoot.find())) return new Set();
  ctx.watch?.follow(scan.listed);
  const plan = planScan(ctx.inventory, { ...scan, number }, absent);
  const moves = await Promise.all(plan.moves.map((move) => settleMove(ctx.inventory, storage, move)));
  await applySteps(ctx, [...plan.steps, ...moves.flat(), ...plan.appeared]);
  await applySteps(ctx, renewals);
  ctx.noteSuspects(plan.suspects);
  ctx.young.sync(ctx.inventory.files(), ctx.clock.monotonicMs());
  showProblems(ctx, scan);
  ctx.onScanned();
  return plan.absent;
}

/**
 * The kernel sets ctime on a rename, so a rename looks the same as a rename and a rewrite with the old mtime set again.
 * Head and tail must agree too; else it is another version.
 */
async function settleMove(
  inventory: Inventory,
  storage: Storage,
  { file, path, identity }: Move,
): Promise<InventoryStep[]> {
  const { versionId } = file;
  const known = isBeforeIndexing(file.state) ? undefined : inventory.findings(versionId)?.headTailSha256;
  if (isBeforeIndexing(file.state) || known === (await hashAt(storage, { path, identity }))) {
    return [{ do: "move", versionId, path, identity }];
  }
  return [
    { do: "event", versionId, event: "vanished" },
    { do: "track", path, identity },
  ];
}

async function hashAt(storage: Storage, { path, identity }: Omit<Move, "file">): Promise<string | undefined> {
  try {
    await using source = await openTracked(storage, path, identity);
    return await hashHeadAndTail(source);
  } catch (error) {
    if (error instanceof FileMoved || isFileSystemError(error)) return undefined;
    throw error;
  }
}

/** Takes them out as they are applied. */
async function applySteps(ctx: ScanContext, steps: InventoryStep[]): Promise<void> {
  while (steps.length > 0) {
    ctx.inventory.change(steps.splice(0, STEPS_PER_COMMIT));
    await setImmediate();
  }
}

function showProblems({ problems, inventory }: ScanContext, { unreadable }: Scan): void {
  const [directory] = unreadable;
  if (directory)
    problems.raise("DirectoryUnreadable", `${directory.path || "the root"}: ${directory.code}${andMore(unreadable)}`);
  else problems.clear("DirectoryUnreadable");
  const files = inventory.files().filter(({ state }) => state === "unreadable");
  const codes = new Set(files.map(({ versionId }) => inventory.findings(versionId)?.reason?.code));
  if (codes.size === 0) problems.clear("FileUnreadable");
  if (!codes.has(setAsideCode)) problems.clear("FileSetAside");
}

function andMore(all: readonly unknown[]): string {
  return all.length > 1 ? ` and ${all.length - 1} more` : "";
}
