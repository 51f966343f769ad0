import type { Clock } from "../../core/clock.ts";
import type { Database } from "../../db/client.ts";
import { withTransaction } from "../../db/transaction.ts";
import { commandLine, writeEntry } from "../audit-log/write-entry.ts";
import { type Quotas, readQuotas, readUsage } from "./require-room.ts";

interface QuotaDeps {
  readonly db: Database;
  readonly clock: Clock;
}

/** The amounts that an organization has, and its limits. If a limit is null, there is none. */
export interface OrganizationLimits {
  readonly id: string;
  readonly name: string;
  readonly used: { readonly storedBytes: bigint; readonly recordings: bigint; readonly members: number };
  readonly limits: Quotas;
}

/** Sets the quotas of the organization with this id or name; an undefined one stays. Returns undefined if there is no such organization. */
export async function setQuotas(
  { db, clock }: QuotaDeps,
  idOrName: string,
  changes: Partial<Quotas>,
): Promise<OrganizationLimits | undefined> {
  const { prisma } = db;
  const organization = await prisma.organization.findFirst({ where: { OR: [{ id: idOrName }, { name: idOrName }] } });
  if (!organization) return undefined;
  const { id, name } = organization;
  await withTransaction(db, async (tx) => {
    const updated = await tx.organization.update({ where: { id }, data: changes });
    if (Object.values(changes).every((change) => change === undefined)) return;
    const change = { operation: "limits", resourceKind: "organization", resourceId: id } as const;
    const states = { before: limitsOf(organization), after: limitsOf(updated) };
    await writeEntry(tx, commandLine, { orgId: id, nowNs: clock.nowNs(), ...change, ...states });
  });
  const [limits, { storedBytes, recordings }] = [await readQuotas(prisma, id), await readUsage(prisma, id)];
  return {
    id,
    name,
    limits,
    used: { storedBytes, recordings, members: await prisma.member.count({ where: { orgId: id } }) },
  };
}

export function describeLimits({ id, name, used, limits }: OrganizationLimits): string {
  const describeFigure = (figure: bigint | number | null) => (figure === null ? "any number" : String(figure));
  return [
    `organization ${id} "${name}"`,
    `  stored bytes      ${used.storedBytes} of ${describeFigure(limits.maxStoredBytes)}`,
    `  recordings        ${used.recordings} of ${describeFigure(limits.maxRecordings)}`,
    `  exports at once   ${describeFigure(limits.maxExports)}`,
    `  members           ${used.members} of ${describeFigure(limits.maxMembers)}`,
    "",
  ].join("\n");
}

function limitsOf({ maxStoredBytes, ...counts }: Quotas) {
  const { maxRecordings, maxExports, maxMembers } = counts;
  const storedBytes = maxStoredBytes === null ? null : Number(maxStoredBytes);
  return { maxStoredBytes: storedBytes, maxRecordings, maxExports, maxMembers };
}
