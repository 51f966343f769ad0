import { EVERY_CAPABILITY } from "@downlink/protocol";
import { newId } from "../../db/ids.ts";
import type { Transaction } from "../../db/transaction.ts";
import { commandLine, writeEntry } from "../audit-log/write-entry.ts";
import { newCredential } from "../tokens/token-rows.ts";

interface NewOrganization {
  readonly name: string;
  /** The text of its first API key, which may do everything. */
  readonly adminToken: string;
  readonly nowNs: bigint;
}

/** Creates a tenant with a project `default`, a primary site and an admin key. Throws a unique violation if the name is taken. */
export async function createOrganization(
  tx: Transaction,
  { name, adminToken, nowNs }: NewOrganization,
): Promise<string> {
  const orgId = newId("org");
  await tx.organization.create({ data: { id: orgId, name, createdAtNs: nowNs } });
  await tx.project.create({ data: { id: newId("prj"), orgId, name: "default", createdAtNs: nowNs } });
  await tx.site.create({
    data: { id: newId("site"), orgId, name: "primary", type: "service-hosted", createdAtNs: nowNs },
  });
  await tx.apiKey.create({
    data: {
      id: newId("key"),
      orgId,
      name: "admin",
      credential: { create: newCredential(adminToken) },
      capabilities: [EVERY_CAPABILITY],
      createdAtNs: nowNs,
    },
  });
  const change = { operation: "create-org", resourceKind: "organization", resourceId: orgId } as const;
  await writeEntry(tx, commandLine, { orgId, nowNs, ...change, after: { name } });
  return orgId;
}
