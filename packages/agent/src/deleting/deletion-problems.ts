import { formatBytes } from "@downlink/terminal/amounts";
import type { WorkBoard } from "../cloud/work-board.ts";
import type { ProblemBoard } from "../diagnostics/problems.ts";
import type { Inventory } from "../inventory/inventory.ts";
import type { DeletionPlan, DeletionSituation } from "./plan-deletions.ts";
import type { Quota } from "./quota.ts";
import type { SetbackCode, Setbacks } from "./setbacks.ts";

interface ProblemContext {
  readonly problems: ProblemBoard;
  readonly setbacks: Setbacks;
  readonly inventory: Inventory;
  readonly board: WorkBoard;
  readonly quota: Quota;
}

export interface Disk {
  readonly totalBytes: number;
  readonly freeBytes: number;
}

interface Situation {
  readonly plan: DeletionPlan;
  readonly disk: Disk | undefined;
  readonly reach: DeletionSituation["reach"];
}

/** With less free space than both, the device can hardly record any more. */
const fullDisk = { share: 0.01, bytes: 100_000_000 };

/** Shows what a person should know about deletions that fail, and about the disk. */
export function showDeletionProblems(ctx: ProblemContext, { plan, disk, reach }: Situation): void {
  const { problems, setbacks } = ctx;
  const show = (code: Parameters<ProblemBoard["raise"]>[0], detail: string | undefined) =>
    detail === undefined ? problems.clear(code) : problems.raise(code, detail);
  show("DeleteRefused", setbacks.find("HashDiffers"));
  show("DeleteFailed", setbacks.find("FileSystem"));
  // While it is not known whether the cloud can be asked, it is not known what may be deleted.
  if (plan.missingBytes === 0) problems.clear("QuotaExceeded");
  else if (reach !== "unsure") show("QuotaExceeded", explainMissing(ctx, plan.missingBytes, reach));
  const isFull = disk && disk.freeBytes < Math.min(fullDisk.bytes, disk.totalBytes * fullDisk.share);
  show("DiskFull", isFull ? `${formatBytes(disk.freeBytes)} of ${formatBytes(disk.totalBytes)} are free` : undefined);
}

/** These setbacks have a line of their own. */
const named: ReadonlySet<SetbackCode> = new Set(["OtherName", "SafetyPeriod"]);

function explainMissing(
  { inventory, setbacks, board, quota }: ProblemContext,
  missingBytes: number,
  reach: Situation["reach"],
): string {
  const { reported = 0, failed = 0, requested = 0, uploading = 0, stored = 0 } = inventory.countByState();
  const other = setbacks.countByCode();
  const stays = [
    [requested + uploading + stored, "are asked for"],
    [quota.prunesUnimported ? 0 : reported + failed, "were never imported, and DOWNLINK_PRUNE_UNIMPORTED is off"],
    [other.get("OtherName") ?? 0, "have another name on the disk"],
    [other.get("SafetyPeriod") ?? 0, `may not be deleted yet (${setbacks.find("SafetyPeriod")})`],
    [[...other].reduce((sum, [code, count]) => (named.has(code) ? sum : sum + count), 0), "may not be deleted yet"],
  ] as const;
  const reasons = stays.filter(([count]) => count > 0).map(([count, why]) => `${count} ${why}`);
  if (reach === "offline") reasons.push("the control plane cannot be asked");
  if (board.settings()?.enabled === false) reasons.push("the device is disabled");
  const why =
    reasons.length > 0 ? `of the recordings ${reasons.join("; ")}` : "there is no recording that may be deleted";
  return `${formatBytes(missingBytes)} more have to be deleted: ${why}`;
}
