import { Prisma } from "./generated/client.ts";

/** The pattern of LIKE and ILIKE for all that has the text in it, taken literally. */
export function patternOfPart(text: string): string {
  return `%${text.replace(/[\\%_]/g, "\\$&")}%`;
}

/**
 * The same value in an expression that no index has, so that the planner sorts what it found by another index instead of walking
 * the one of the order past rows that do not match.
 */
export function unindexed(column: Prisma.Sql, type: "number" | "text"): Prisma.Sql {
  return type === "number" ? Prisma.sql`${column} + 0` : Prisma.sql`${column} || ''`;
}
