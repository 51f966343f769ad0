import type { AgentCaller } from "../../core/callers.ts";
import type { AgentModel, DeviceModel, SiteModel } from "../../db/generated/models.ts";
import type { Transaction } from "../../db/transaction.ts";

/** The owner of the files that an agent reports: a device, or an edge site. */
export type AgentOwner = { readonly device: DeviceModel } | { readonly site: SiteModel };

type OwnerIds = Pick<AgentCaller | AgentModel, "deviceId" | "siteId">;

/** Returns the key of the owner's one agent. */
export function toAgentKey({ deviceId, siteId }: OwnerIds): { deviceId: string } | { siteId: string } {
  return deviceId === null ? { siteId: siteId! } : { deviceId };
}

/** Returns the id under which work is signalled to the owner's agent. */
export function ownerId({ deviceId, siteId }: OwnerIds): string {
  return deviceId ?? siteId!;
}

/** Reads the owner as it is now. The caller holds the agent's lease, because otherwise the owner might be gone. */
export async function readOwner(tx: Transaction, { deviceId, siteId }: OwnerIds): Promise<AgentOwner> {
  if (deviceId !== null) return { device: await tx.device.findUniqueOrThrow({ where: { id: deviceId } }) };
  return { site: await tx.site.findUniqueOrThrow({ where: { id: siteId! } }) };
}
