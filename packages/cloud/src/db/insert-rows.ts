// Prisma is the query layer, SQL where it is hot: rows in bulk are inserted with one statement a table from a JSON
// parameter, coverage is gaps and islands in SQL (`coverage/coverage.ts`). No repository layer.

import type { Prisma } from "./generated/client.ts";
import type { Transaction } from "./transaction.ts";

/** The tables that are filled in bulk. */
interface Rows {
  readonly EdgeFile: Prisma.EdgeFileCreateManyInput;
  readonly ImportRequest: Prisma.ImportRequestCreateManyInput;
  readonly OutboxEvent: Prisma.OutboxEventCreateManyInput;
  readonly Recording: Prisma.RecordingCreateManyInput;
  readonly RecordingAttachment: Prisma.RecordingAttachmentCreateManyInput;
  readonly RecordingTopic: Prisma.RecordingTopicCreateManyInput;
  /** `activity` as Postgres reads bytes from a text. */
  readonly RecordingTopicActivity: Omit<Prisma.RecordingTopicActivityCreateManyInput, "activity"> & {
    activity: string | null;
  };
}

/** Inserts rows with one statement that takes them as one JSON parameter: `createMany` takes a parameter a value, many times slower. */
export async function insertRows<T extends keyof Rows>(
  tx: Transaction,
  table: T,
  rows: readonly Rows[T][],
): Promise<void> {
  if (rows.length === 0) return;
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))].map((name) => `"${name}"`).join(", ");
  await tx.$executeRawUnsafe(
    `INSERT INTO "${table}" (${columns}) SELECT ${columns} FROM json_populate_recordset(NULL::"${table}", $1::json)`,
    toJson(rows),
  );
}

/** As Postgres reads it: integers of 64 bits as texts. */
export function toJson(rows: readonly object[]): string {
  return JSON.stringify(rows, (_key, value: unknown) => (typeof value === "bigint" ? value.toString() : value));
}
