import type { Database } from "../db/client.ts";
import { type Quotas, readQuotas, readUsage } from "./require-room.ts";

/**
 * Sets the quotas of the organization with this id or name; what is undefined stays. Answers a text for the operator,
 * or undefined where there is no such organization.
 */
export async function setQuotas(
  { prisma }: Database,
  idOrName: string,
  changes: Partial<Quotas>,
): Promise<string | undefined> {
  const organization = await prisma.organization.findFirst({ where: { OR: [{ id: idOrName }, { name: idOrName }] } });
  if (!organization) return undefined;
  const { id, name } = organization;
  await prisma.organization.update({ where: { id }, data: changes });
  const [quotas, usage] = [await readQuotas(prisma, id), await readUsage(prisma, id)];
  const of = (figure: bigint | number | null) => (figure === null ? "any number" : String(figure));
  return [
    `organization ${id} "${name}"`,
    `  stored bytes      ${usage.storedBytes} of ${of(quotas.maxStoredBytes)}`,
    `  recordings        ${usage.recordings} of ${of(quotas.maxRecordings)}`,
    `  exports at once   ${of(quotas.maxExports)}`,
    "",
  ].join("\n");
}
