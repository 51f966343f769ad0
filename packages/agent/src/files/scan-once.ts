import { setImmediate } from "node:timers/promises";
import type { ProblemBoard } from "../diagnostics/problems.ts";
import { hashHeadAndTail } from "../indexing/head-tail.ts";
import { SET_ASIDE_CODE } from "../indexing/reason-codes.ts";
import { isBeforeIndexing } from "../inventory/file-state.ts";
import { type FileIdentity, isSameIdentity } from "../inventory/identity.ts";
import type { Inventory } from "../inventory/inventory.ts";
import type { InventoryStep } from "../inventory/tracked-file.ts";
import type { Turns } from "../loops/turns.ts";
import type { Clock } from "../system/clock.ts";
import { isFileSystemError } from "../system/system-error.ts";
import { isBeingRecorded } from "./active-files.ts";
import { FileMovedError, openTracked, type Storage } from "./open-tracked.ts";
import { type Move, planScan, type Suspect } from "./plan-scan.ts";
import { type Scan, scanTree } from "./scan.ts";
import type { StorageRoot } from "./storage-root.ts";
import type { DirectoryWatch } from "./watch.ts";
import type { YoungFiles } from "./young-files.ts";

export interface ScanContext {
  readonly clock: Clock;
  readonly inventory: Inventory;
  readonly young: YoungFiles;
  readonly problems: ProblemBoard;
  readonly storageRoot: Pick<StorageRoot, "find">;
  /** Is called when everything on the card that is in was found. */
  readonly onScanned: () => void;
  readonly matches: (path: string) => boolean;
  /** Deletions and scans take turns, so that neither sees the other halfway. */
  readonly treeTurns: Turns;
  /** Takes the files whose content decides whether they are the known versions. */
  readonly noteSuspects: (suspects: readonly Suspect[]) => void;
  /** Absent where files are found by scanning only. */
  readonly watch?: DirectoryWatch;
}

const STEPS_PER_COMMIT = 2000;

export interface ScanTurn {
  /** The number of the scan, counted from 1. */
  readonly number: number;
  readonly storage: Storage;
  /** The versions that were not found last time. */
  readonly absent: ReadonlySet<string>;
  readonly signal: AbortSignal;
}

/** Brings the inventory up to date with the tree; returns the versions that were not found this time. */
export async function scanOnce(
  ctx: ScanContext,
  { number, storage, absent, signal }: ScanTurn,
): Promise<ReadonlySet<string>> {
  using _turn = await ctx.treeTurns.take();
  const { inventory } = ctx;
  // A file that a scan found once matches: patterns make more garbage than all the rest of a scan.
  const matches = (path: string) => (inventory.at(path)?.foundIn ?? 0) > 0 || ctx.matches(path);
  const isKnown = (path: string, identity: FileIdentity) => inventory.noteFound(path, identity, number);
  const nowNs = ctx.clock.nowNs();
  const filters = {
    matches,
    isKnown,
    isBeingRecorded: (path: string, identity: FileIdentity) => isBeingRecorded(path, identity, nowNs),
  };
  const scan = await scanTree({ root: storage.root, rootDevice: storage.device, ...filters, signal });
  // The scan says nothing if the root went away meanwhile.
  if (!(await ctx.storageRoot.find())) return new Set();
  ctx.watch?.follow(scan.listed);
  const plan = planScan(ctx.inventory, { ...scan, number }, absent);
  const moves = await Promise.all(plan.moves.map((move) => settleMove(ctx.inventory, storage, move)));
  await applySteps(ctx, [...plan.steps, ...moves.flat(), ...plan.appeared]);
  ctx.noteSuspects([...plan.suspects, ...plan.moves.flatMap((move) => suspectAt(inventory, move))]);
  ctx.young.sync(ctx.inventory.files(), ctx.clock.monotonicMs());
  showProblems(ctx, scan);
  ctx.onScanned();
  return plan.absent;
}

/**
 * The kernel sets ctime on a rename, so a rename looks like a rewrite with the old mtime restored: head and tail must agree too, otherwise
 * the file is another version. Where they agree, the version is at the new path, and a new ctime makes it a suspect. Without a new ctime
 * this comparison is the only one.
 */
async function settleMove(
  inventory: Inventory,
  storage: Storage,
  { file, path, identity }: Move,
): Promise<InventoryStep[]> {
  const { versionId } = file;
  const known = isBeforeIndexing(file.state) ? undefined : inventory.findings(versionId)?.headTailSha256;
  if (isBeforeIndexing(file.state) || known === (await hashAt(storage, { path, identity }))) {
    const { ctimeNs } = isBeforeIndexing(file.state) ? identity : file.identity;
    return [{ do: "move", versionId, path, identity: { ...identity, ctimeNs } }];
  }
  return [
    { do: "event", versionId, event: "vanished" },
    { do: "track", path, identity },
  ];
}

function suspectAt(inventory: Inventory, { file: { versionId }, path, identity }: Move): Suspect[] {
  const file = inventory.at(path);
  return file?.versionId === versionId && !isSameIdentity(file.identity, identity) ? [{ file, identity }] : [];
}

async function hashAt(storage: Storage, { path, identity }: Omit<Move, "file">): Promise<string | undefined> {
  try {
    await using source = await openTracked(storage, path, identity);
    return await hashHeadAndTail(source);
  } catch (error) {
    if (error instanceof FileMovedError || isFileSystemError(error)) return undefined;
    throw error;
  }
}

/** Takes the steps out of the list as it applies them, so that their memory can be freed. */
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
  if (!codes.has(SET_ASIDE_CODE)) problems.clear("FileSetAside");
}

function andMore(all: readonly unknown[]): string {
  return all.length > 1 ? ` and ${all.length - 1} more` : "";
}
