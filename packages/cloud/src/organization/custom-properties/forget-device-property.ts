import type { Transaction } from "../../db/transaction.ts";

interface Forgotten {
  readonly orgId: string;
  readonly key: string;
  readonly nowNs: bigint;
}

/** Takes a key from all devices, now and in their history. The caller has locked the property. spec: Custom properties/Delete */
export async function forgetDeviceProperty(tx: Transaction, { orgId, key, nowNs }: Forgotten): Promise<void> {
  await tx.$executeRaw`
    UPDATE "Device" SET properties = properties - ${key}, "updatedAtNs" = ${nowNs}
    WHERE "orgId" = ${orgId} AND properties ? ${key}`;
  await tx.$executeRaw`DELETE FROM "DevicePropertyInterval" WHERE "orgId" = ${orgId} AND key = ${key}`;
}
