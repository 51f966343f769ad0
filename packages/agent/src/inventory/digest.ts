import { createHash } from "node:crypto";
import type { EdgeItem } from "@downlink/protocol";

export interface InventoryDigest {
  readonly count: number;
  /** Lower-case hexadecimal. */
  readonly digest: string;
}

/**
 * The digest by which agent and cloud find out whether they agree: SHA-256 over the lines `versionId state\n`, sorted by code units, of all
 * files that were reported and acknowledged; `state` is the word of {@link EdgeItem}.
 */
export function digestInventory(files: Iterable<{ versionId: string; state: EdgeItem["state"] }>): InventoryDigest {
  const lines = Array.from(files, ({ versionId, state }) => `${versionId} ${state}\n`).sort();
  const hash = createHash("sha256");
  for (const line of lines) hash.update(line);
  return { count: lines.length, digest: hash.digest("hex") };
}
