import type { EdgeFileModel } from "../db/generated/models.ts";

/** The edge copy of a recording, while it counts as there: one that the agent may delete at this moment does not. */
export function edgeCopyOf(
  { edgeFile }: { readonly edgeFile: EdgeFileModel | null },
  nowNs: bigint,
): EdgeFileModel | null {
  const isGoing = (edgeFile?.permitExpiresAtNs ?? nowNs) > nowNs;
  return isGoing ? null : edgeFile;
}
