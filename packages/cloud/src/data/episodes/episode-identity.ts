import { createHash } from "node:crypto";

interface Snapshot {
  readonly startNs: bigint;
  readonly endNs: bigint;
  readonly recordingIds: readonly string[];
}

/** Equal for episodes of the same time range and recordings, in whatever order. spec: Episodes: "match exactly" */
export function identityOf({ startNs, endNs, recordingIds }: Snapshot): string {
  const members = [...new Set(recordingIds)].sort();
  return createHash("sha256")
    .update(JSON.stringify([String(startNs), String(endNs), ...members]))
    .digest("hex");
}
