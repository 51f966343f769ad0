import type { IngestPathRule } from "@downlink/protocol";
import type { IngestPathPolicyModel } from "../../db/generated/models.ts";
import type { Transaction } from "../../db/transaction.ts";

/** A policy as it is stored: with the fields of its rules that this version does not know. */
export interface PathPolicy {
  readonly schemaVersion: 1;
  readonly rules: readonly IngestPathRule[];
}

/** Finds the current policy of a site; null if none was ever saved. */
export function findPolicy(
  tx: Pick<Transaction, "ingestPathPolicy">,
  siteId: string,
): Promise<IngestPathPolicyModel | null> {
  return tx.ingestPathPolicy.findFirst({ where: { siteId }, orderBy: { revision: "desc" } });
}

export function policyOf({ policy }: Pick<IngestPathPolicyModel, "policy">): PathPolicy {
  return policy as unknown as PathPolicy;
}
