import { Prisma } from "./generated/client.ts";

/** Makes the LIKE and ILIKE pattern for every text that contains `text`, taken literally. */
export function patternOfPart(text: string): string {
  return `%${text.replace(/[\\%_]/g, "\\$&")}%`;
}

/**
 * Wraps the value in an expression that no index has, so that the planner sorts the rows that it found by another index instead of walking
 * the order's index past rows that do not match.
 */
export function avoidIndex(column: Prisma.Sql, type: "number" | "text"): Prisma.Sql {
  return type === "number" ? Prisma.sql`${column} + 0` : Prisma.sql`${column} || ''`;
}
