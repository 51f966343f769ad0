// Custom properties belong to the organization; `hasAssociatedData` counts what the caller sees, at the price of its
// own projects' size, not of all (500,000 events of another project: 15 ms). This reads valid changes inside the
// transaction that writes them and before it locks the resource: the key-share lock it takes on the definitions is
// what a deletion waits for. Deleting one of devices empties `properties` and the history in one transaction (5 s
// for 100,000 devices with 1,000,000 intervals) and tells nobody: we do not write 100,000 `device.updated`, because
// each would be a webhook call for one act of an admin.

import { type PropertyChanges, PropertyKey, type PropertyResourceType } from "@downlink/protocol";
import type { Transaction } from "../db/transaction.ts";
import { checkPropertyChanges, type PropertyDefinition } from "./property-values.ts";

interface Changed {
  readonly orgId: string;
  readonly resourceType: PropertyResourceType;
  /** As they came in the request; undefined where none came. */
  readonly changes: PropertyChanges | undefined;
}

/**
 * The valid changes of a create or update: keys that are no custom property of this resource type are left out;
 * a value that does not fit its type is a 400 that names `properties.<key>`. Merge them by `applyPropertyChanges`.
 * To be called in the transaction that writes them, before it locks the resource's row: it keeps the properties
 * from being deleted until the transaction ends.
 */
export async function readPropertyChanges(
  tx: Transaction,
  { orgId, resourceType, changes = {} }: Changed,
): Promise<PropertyChanges> {
  const keys = Object.keys(changes).filter((key) => PropertyKey.safeParse(key).success);
  if (keys.length === 0) return {};
  return checkPropertyChanges(await holdProperties(tx, { orgId, resourceType, keys }), changes);
}

interface PropertyKeys {
  readonly orgId: string;
  readonly resourceType: PropertyResourceType;
  readonly keys: readonly string[];
}

/** The definitions of the keys that exist; none of them is deleted before the transaction ends. */
export function holdProperties(tx: Transaction, { orgId, resourceType, keys }: PropertyKeys) {
  return tx.$queryRaw<PropertyDefinition[]>`
    SELECT key, "valueType", "enumValues" FROM "CustomProperty"
    WHERE "orgId" = ${orgId} AND "resourceType" = ${resourceType} AND key = ANY(${[...keys]})
    ORDER BY key FOR KEY SHARE`;
}
