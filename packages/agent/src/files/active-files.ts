import { nameWithoutCompression } from "@downlink/recordings";
import type { FileIdentity } from "../inventory/identity.ts";

/** A recorder names a file so while it writes it, and gives it its own name when it is finished. */
const ACTIVE = ".active";
/** A file that did not change for so long under such a name was left by a recorder that crashed, or is as good as finished. */
const QUIET_NS = 3_600_000_000_000n;

export function isActiveName(path: string): boolean {
  return path.toLowerCase().endsWith(ACTIVE);
}

/** Returns the path of a recording when it is finished, and as it was before a tool compressed it as a whole. */
export function recordingPathOf(path: string): string {
  return isActiveName(path) ? path.slice(0, -ACTIVE.length) : (nameWithoutCompression(path) ?? path);
}

/** Says whether a recorder writes the file, as far as its name and times tell. */
export function isBeingRecorded(path: string, { mtimeNs }: Pick<FileIdentity, "mtimeNs">, nowNs: bigint): boolean {
  return isActiveName(path) && mtimeNs > nowNs - QUIET_NS;
}
