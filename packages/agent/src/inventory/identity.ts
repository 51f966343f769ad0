import type { BigIntStats } from "node:fs";
import type { FileStat } from "@downlink/recordings";

/** A number while it is a safe one, as nearly all are: in memory and as a key, big integers cost several times as much. */
export type FileNumber = number | bigint;

/** The only way to make one: what is equal must be the same. */
export function fileNumber(exact: bigint): FileNumber {
  return exact <= MAX_NUMBER ? Number(exact) : exact;
}

const MAX_NUMBER = BigInt(Number.MAX_SAFE_INTEGER);

/**
 * What the file system says of a file. While it stays, the file holds the version that was found under it; a change of it asks
 * whether it still does (`plan-scan.ts`).
 * `device` is 0 on the file system of the root itself: its number may differ after a reboot, and which root it is, is
 * held by the marker.
 */
export interface FileIdentity {
  readonly device: FileNumber;
  readonly inode: FileNumber;
  readonly sizeBytes: number;
  readonly mtimeNs: bigint;
  readonly ctimeNs: bigint;
}

export function identityOf(stats: BigIntStats, rootDevice: bigint): FileIdentity {
  return {
    device: stats.dev === rootDevice ? 0 : fileNumber(stats.dev),
    inode: fileNumber(stats.ino),
    sizeBytes: Number(stats.size),
    ...timesOf(stats),
  };
}

export function identityOfStat(stat: FileStat, rootDevice: bigint): FileIdentity {
  return {
    device: stat.device === rootDevice ? 0 : fileNumber(stat.device),
    inode: fileNumber(stat.inode),
    sizeBytes: stat.sizeBytes,
    ...timesOf(stat),
  };
}

/** Of most files both are the same: one number in memory then, not two. */
function timesOf(of: { readonly mtimeNs: bigint; readonly ctimeNs: bigint }) {
  const mtimeNs = clampNs(of.mtimeNs);
  return { mtimeNs, ctimeNs: of.ctimeNs === of.mtimeNs ? mtimeNs : clampNs(of.ctimeNs) };
}

const MAX_NS = 2n ** 63n - 1n;

/** File systems hold times beyond the year 2262, which 64 bits of nanoseconds (and the wire) do not. */
function clampNs(timeNs: bigint): bigint {
  if (timeNs > MAX_NS) return MAX_NS;
  return timeNs < -MAX_NS ? -MAX_NS : timeNs;
}

export function isSameIdentity(a: FileIdentity, b: FileIdentity): boolean {
  return isSameContentHolder(a, b) && a.ctimeNs === b.ctimeNs;
}

/** All but ctime, which a rename sets. */
export function isSameContentHolder(a: FileIdentity, b: FileIdentity): boolean {
  return a.inode === b.inode && a.sizeBytes === b.sizeBytes && a.mtimeNs === b.mtimeNs && a.device === b.device;
}

/** Equal for two identities of which {@link isSameContentHolder} is true. */
export function contentHolderKey({ device, inode, sizeBytes, mtimeNs }: FileIdentity): string {
  return `${device}:${inode}:${sizeBytes}:${mtimeNs}`;
}
