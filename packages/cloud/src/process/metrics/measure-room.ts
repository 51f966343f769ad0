import { statfs } from "node:fs/promises";

/** A folder of this process on a disk of its machine. */
export interface OwnFolder {
  readonly of: "objects" | "database";
  readonly path: string;
}

/** The room on the disk of a folder, for users without special rights. */
export interface Room {
  readonly of: OwnFolder["of"];
  /** `low`: below 5 % of the disk and 10 GB; `full`: below 100 MB, so that uploads may be refused at any moment. */
  readonly state: "ok" | "low" | "full";
  readonly freeBytes: number;
  readonly totalBytes: number;
}

const FULL_BYTES = 100e6;
const LOW_BYTES = 10e9;
const LOW_SHARE = 0.05;

/** Leaves out folders that are not there: whether they should be is the store's matter. */
export async function measureRoom(folders: readonly OwnFolder[]): Promise<Room[]> {
  const found = await Promise.allSettled(folders.map(measure));
  return found.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
}

async function measure({ of, path }: OwnFolder): Promise<Room> {
  const { bavail, blocks, bsize } = await statfs(path);
  const [freeBytes, totalBytes] = [bavail * bsize, blocks * bsize];
  return { of, state: stateOf(freeBytes, totalBytes), freeBytes, totalBytes };
}

export function stateOf(freeBytes: number, totalBytes: number): Room["state"] {
  if (freeBytes < FULL_BYTES) return "full";
  return freeBytes < Math.min(LOW_BYTES, LOW_SHARE * totalBytes) ? "low" : "ok";
}
