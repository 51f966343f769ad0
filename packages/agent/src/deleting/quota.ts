import type { EdgeSettings } from "@downlink/protocol";
import type { DiskAmount } from "../settings/disk-amount.ts";
import type { DeletionPolicy } from "./plan-deletions.ts";

/** The quotas that the operator of the device set. */
export interface Quota {
  readonly maxDisk: DiskAmount | undefined;
  readonly minFree: DiskAmount | undefined;
  readonly prunesUnimported: boolean;
}

/** While the cloud's settings are not known, only the operator's rules apply. */
export function toPolicy(
  settings: EdgeSettings | undefined,
  quota: Quota,
  disk: { readonly totalBytes: number } | undefined,
): DeletionPolicy {
  return {
    retainSeconds: settings?.retainRecordingsSeconds ?? 0,
    deletesImported: settings?.autoDeleteAfterImport ?? false,
    isEnabled: settings?.enabled ?? false,
    maxDiskBytes: toBytes(quota.maxDisk, disk),
    minFreeBytes: toBytes(quota.minFree, disk),
    prunesUnimported: quota.prunesUnimported,
  };
}

/** A share of a disk whose size is not known is no limit. */
function toBytes(
  amount: DiskAmount | undefined,
  disk: { readonly totalBytes: number } | undefined,
): number | undefined {
  if (amount === undefined || "bytes" in amount) return amount?.bytes;
  return disk && Math.floor((disk.totalBytes * amount.percent) / 100);
}
