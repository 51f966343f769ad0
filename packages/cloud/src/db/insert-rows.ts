// Prisma is the query layer, and SQL is used for hot paths: rows in bulk are inserted from a JSON parameter with one statement for each
// table, and coverage finds gaps and islands in SQL (`data/coverage/coverage.ts`). There is no repository layer.

import type { Prisma } from "./generated/client.ts";
import type { Transaction } from "./transaction.ts";

/** The tables that are filled in bulk. */
interface Rows {
  readonly EdgeFile: Prisma.EdgeFileCreateManyInput;
  readonly ImportRequest: Prisma.ImportRequestCreateManyInput;
  readonly OutboxEvent: Prisma.OutboxEventCreateManyInput;
  readonly Recording: Prisma.RecordingCreateManyInput;
  readonly RecordingAttachment: Prisma.RecordingAttachmentCreateManyInput;
  readonly RecordingSpan: Prisma.RecordingSpanCreateManyInput;
  readonly RecordingTopic: Prisma.RecordingTopicCreateManyInput;
  /** `activity` is a text in the form in which Postgres reads bytes. */
  readonly RecordingTopicActivity: Omit<Prisma.RecordingTopicActivityCreateManyInput, "activity"> & {
    activity: string | null;
  };
}

/**
 * Inserts rows with one statement that takes them as one JSON parameter: `createMany` takes one parameter for each value, and is many times
 * slower.
 */
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

/** Formats rows as JSON that Postgres reads: integers of 64 bits are texts. */
export function toJson(rows: readonly object[]): string {
  return JSON.stringify(rows, (_key, value: unknown) => (typeof value === "bigint" ? value.toString() : value));
}
