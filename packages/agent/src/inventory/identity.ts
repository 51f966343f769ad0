import type { BigIntStats } from "node:fs";
import type { FileStat } from "@downlink/recordings";

/** Nearly all are safe integers and kept as a number: in memory and as a key, a bigint costs several times as much. */
export type FileNumber = number | bigint;

/** All file numbers are made here, so that equal numbers are of one type and compare as equal. */
export function fileNumber(exact: bigint): FileNumber {
  return exact <= MAX_NUMBER ? Number(exact) : exact;
}

const MAX_NUMBER = BigInt(Number.MAX_SAFE_INTEGER);

/**
 * The file system's facts about a file. While the identity stays, the file holds the version that was found under it; once it changes,
 * `plan-scan.ts` decides whether it still does. `device` is 0 on the file system of the root itself, because the number may differ after a
 * reboot: the marker tells which root it is.
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

/** In most files both times are the same, and share one number in memory. */
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

/** Compares all but ctime, which a rename sets. */
export function isSameContentHolder(a: FileIdentity, b: FileIdentity): boolean {
  return a.inode === b.inode && a.sizeBytes === b.sizeBytes && a.mtimeNs === b.mtimeNs && a.device === b.device;
}

/** Two identities have the same key where {@link isSameContentHolder} is true. */
export function contentHolderKey({ device, inode, sizeBytes, mtimeNs }: FileIdentity): string {
  return `${device}:${inode}:${sizeBytes}:${mtimeNs}`;
}
