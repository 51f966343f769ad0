import { type PropertyChanges, PropertyKey, type PropertyResourceType } from "@downlink/protocol";
import type { Transaction } from "../../db/transaction.ts";
import { checkPropertyChanges, type PropertyDefinition } from "./property-values.ts";

interface Changed {
  readonly orgId: string;
  readonly resourceType: PropertyResourceType;
  /** The changes as the request has them; undefined if it has none. */
  readonly changes: PropertyChanges | undefined;
}

/**
 * Returns the valid changes of a create or update: keys that are no custom property of this resource type are left out; a value that does
 * not fit its type is a 400 that names `properties.<key>`. Merge them by `applyPropertyChanges`. Call this in the transaction that writes
 * them, before it locks the resource's row: the properties cannot be deleted until that transaction ends.
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

/** Finds the definitions of the keys that exist; none of them can be deleted before the transaction ends. */
export function holdProperties(tx: Transaction, { orgId, resourceType, keys }: PropertyKeys) {
  return tx.$queryRaw<PropertyDefinition[]>`
    SELECT key, "valueType", "enumValues" FROM "CustomProperty"
    WHERE "orgId" = ${orgId} AND "resourceType" = ${resourceType} AND key = ANY(${[...keys]})
    ORDER BY key FOR KEY SHARE`;
}
