import type { RecordingModel } from "../db/generated/models.ts";

/** The conditions under which a reading of stored bytes proves something; times are server time. */
export interface ProofTerms {
  /** When an object of the store was last found damaged; null: never. */
  readonly damageSeenAtNs: bigint | null;
  /** How old a reading may be (`DOWNLINK_DELETE_PROOF_AGE`). */
  readonly proofAgeNs: bigint;
  readonly nowNs: bigint;
}

/** Says whether the stored bytes have to be read again before they count: before a device deletes its copy, or an upload ends as a repeat. */
export function isProofOld(
  { verifiedAtNs, importedAtNs }: Pick<RecordingModel, "verifiedAtNs" | "importedAtNs">,
  { damageSeenAtNs, proofAgeNs, nowNs }: ProofTerms,
): boolean {
  const readAtNs = verifiedAtNs ?? importedAtNs;
  return readAtNs === null || readAtNs < nowNs - proofAgeNs || (damageSeenAtNs !== null && readAtNs <= damageSeenAtNs);
}
