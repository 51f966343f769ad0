import type { Recording } from "@downlink/protocol";
import type { Complete } from "../../core/complete.ts";

/** A site that was not heard of for so long is taken for unreachable. */
export const SILENT_NS = 600n * 1_000_000_000n;

/** The known facts about the place of a recording's data. Null: there is no such place, or nothing is wrong. */
export interface DataPlace {
  readonly importStatus: Recording["importStatus"];
  /** When the process of its self-hosted site was heard of last. */
  readonly siteSeenAtNs: bigint | null;
  /** Why the bucket of its site cannot be read, and since when. */
  readonly bucketProblem: string | null;
  readonly bucketProblemSinceNs: bigint | null;
}

/** Returns why imported data cannot be read at this moment, and since when; undefined: as far as is known, it can. */
export function explainUnavailable(place: DataPlace, nowNs: bigint): Complete<Recording["unavailable"]> {
  const { importStatus, siteSeenAtNs, bucketProblem, bucketProblemSinceNs } = place;
  if (importStatus !== "complete") return undefined;
  if (bucketProblem !== null) return { reason: bucketProblem, since: bucketProblemSinceNs ?? nowNs };
  if (siteSeenAtNs === null || nowNs - siteSeenAtNs <= SILENT_NS) return undefined;
  return { reason: "nothing is heard of its self-hosted site", since: siteSeenAtNs };
}
