import { createHash } from "node:crypto";
import type { EdgeItem } from "@downlink/protocol";
import { refuse } from "../../core/errors.ts";
import type { Transaction } from "../../db/transaction.ts";

interface SchemaText {
  readonly sha256: string;
  /** The text of the schema in base 64. */
  readonly data: string;
}

/**
 * Stores schema texts by their content, once per organization. One order for all writers keeps agents that send the same schemas from
 * deadlocking.
 */
export async function storeSchemas(tx: Transaction, orgId: string, schemas: readonly SchemaText[]): Promise<void> {
  if (schemas.length === 0) return;
  for (const { sha256, data } of schemas)
    if (createHash("sha256").update(data, "base64").digest("hex") !== sha256)
      refuse("DigestMismatch", `schema ${sha256} has another SHA-256`);
  await tx.$executeRaw`
    INSERT INTO "SchemaText" ("orgId", sha256, data)
    SELECT ${orgId}, sha256, decode(data, 'base64') FROM json_to_recordset(${JSON.stringify(schemas)}::json) AS t(sha256 text, data text)
    ORDER BY sha256 ON CONFLICT DO NOTHING`;
}

/** Returns the schemas that the items name and that were not sent yet. */
export async function unknownSchemas(tx: Transaction, orgId: string, items: readonly EdgeItem[]): Promise<string[]> {
  const named = namedSchemas(items);
  if (named.size === 0) return [];
  const known = await tx.$queryRaw<{ sha256: string }[]>`
    SELECT sha256 FROM "SchemaText" WHERE "orgId" = ${orgId} AND sha256 = ANY(${[...named]})`;
  for (const { sha256 } of known) named.delete(sha256);
  return [...named];
}

/** Returns the hashes of all schemas that the items name. */
export function namedSchemas(items: readonly EdgeItem[]): Set<string> {
  return new Set(
    items.flatMap((item) => (item.state === "indexed" ? item.topics.map((topic) => topic.schemaSha256) : [])),
  );
}
