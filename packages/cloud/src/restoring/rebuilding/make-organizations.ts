import type { Transaction } from "../../db/transaction.ts";
import type { FoundOrganization } from "./describe-store.ts";

/**
 * Makes the organizations that the database lacks, each with a site for the store's objects; their projects and devices are made with the
 * recordings. The organization of the first start gives way, with its name: its admin keys open the eldest of them.
 */
export async function makeOrganizations(tx: Transaction, found: readonly FoundOrganization[]): Promise<void> {
  const former = await findUntouched(tx, found);
  if (former) await tx.organization.update({ where: { id: former }, data: { name: former } });
  for (const organization of found) await makeOrganization(tx, organization);
  if (former) await replaceBy(tx, former, found[0]!.id);
  await forgetReplays(tx, former);
}

/** Returns the organization of the first start, if it is the only one and was never changed. */
async function findUntouched(tx: Transaction, found: readonly FoundOrganization[]): Promise<string | undefined> {
  const [only, ...others] = await tx.organization.findMany({ select: { id: true }, take: 2 });
  if (!only || others.length > 0 || found.some(({ id }) => id === only.id)) return undefined;
  const changes = await tx.auditEntry.count({ where: { orgId: only.id } });
  return changes === 1 ? only.id : undefined;
}

async function makeOrganization(tx: Transaction, { id, name, siteId, ...times }: FoundOrganization): Promise<void> {
  const createdAtNs = BigInt(times.createdAtNs);
  const isFree = name !== null && (await tx.organization.count({ where: { name } })) === 0;
  await tx.organization.createMany({ data: [{ id, name: isFree ? name : id, createdAtNs }], skipDuplicates: true });
  if ((await tx.site.count({ where: { orgId: id, type: "service-hosted" } })) > 0) return;
  await tx.site.create({ data: { id: siteId, orgId: id, name: "primary", type: "service-hosted", createdAtNs } });
}

async function replaceBy(tx: Transaction, former: string, orgId: string): Promise<void> {
  await tx.apiKey.updateMany({ where: { orgId: former }, data: { orgId } });
  await tx.project.deleteMany({ where: { orgId: former } });
  await tx.site.deleteMany({ where: { orgId: former } });
  await tx.organization.delete({ where: { id: former } });
}

/**
 * The ledger is replayed from its beginning. Entries that were replayed while the organizations were missing had no effect then. Those of
 * the organization that gave way have none now.
 */
async function forgetReplays(tx: Transaction, former: string | undefined): Promise<void> {
  await tx.$executeRaw`
    DELETE FROM "LedgerEntry" WHERE "isNoted"
      AND (${former ?? null}::text IS NULL OR (subject <> ${former ?? ""} AND data ->> 'orgId' IS DISTINCT FROM ${former ?? ""}))`;
}
