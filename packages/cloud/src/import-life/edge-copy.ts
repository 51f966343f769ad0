import type { EdgeFileModel } from "../db/generated/models.ts";

/** Returns the edge copy of a recording if it counts as present: one that the agent may delete at this moment does not. */
export function edgeCopyOf(
  { edgeFile }: { readonly edgeFile: EdgeFileModel | null },
  nowNs: bigint,
): EdgeFileModel | null {
  const isGoing = (edgeFile?.permitExpiresAtNs ?? nowNs) > nowNs;
  return isGoing ? null : edgeFile;
}
