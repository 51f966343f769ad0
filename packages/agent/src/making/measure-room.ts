import { sumBytes } from "../deleting/disk-usage.ts";
import { type Quota, toPolicy } from "../deleting/quota.ts";
import type { Inventory } from "../inventory/inventory.ts";
import { measureDisk } from "../system/measure-disk.ts";

/** How much may still be written, in bytes, and why no more. */
export interface Room {
  readonly bytes: number;
  readonly why: string;
}

/** Measures the room for a file of which so many bytes are written. */
export type MeasureRoom = (writtenBytes: number) => Promise<Room>;

/** The share of the disk that is left free for new recordings, whatever the operator sets. */
const FREE_SHARE = 0.05;

/**
 * Measures how much the agent may write into the root: recorders keep the room that they need, and the disk limits of the operator hold, so
 * that no recording is deleted to make room for a part of another one.
 */
export async function measureRoom(
  { inventory, quota }: { readonly inventory: Pick<Inventory, "files">; readonly quota: Quota },
  root: string,
  writtenBytes: number,
): Promise<Room> {
  const disk = await measureDisk(root);
  const { maxDiskBytes, minFreeBytes = 0 } = toPolicy(undefined, quota, disk);
  const rooms: Room[] = [];
  if (disk) {
    rooms.push({
      bytes: disk.freeBytes - disk.totalBytes * FREE_SHARE,
      why: `less than ${FREE_SHARE * 100} % of the disk would be free; that is left to the recorder`,
    });
    rooms.push({ bytes: disk.freeBytes - minFreeBytes, why: "less than MIN_FREE_BYTES would be free" });
  }
  if (maxDiskBytes !== undefined) {
    const here = inventory.files().filter(({ state }) => state !== "away");
    const bytes = maxDiskBytes - sumBytes(here) - writtenBytes;
    rooms.push({ bytes, why: "the recordings would take more than MAX_DISK_BYTES" });
  }
  const unlimited: Room = { bytes: Number.POSITIVE_INFINITY, why: "" };
  return rooms.reduce((least, room) => (room.bytes < least.bytes ? room : least), unlimited);
}
