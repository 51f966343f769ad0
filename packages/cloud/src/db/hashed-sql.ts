import { Prisma } from "./generated/client.ts";

/**
 * Whether a text of rows `r` is this one, by an index over its MD5: an index holds no long texts. The text itself is compared
 * where no planner counts it, because the two are one condition.
 */
export function equalsByHash(column: string, text: string): Prisma.Sql {
  const value = Prisma.raw(`r."${column}"`);
  return Prisma.sql`md5(${value}) = md5(${text}) AND (${value} = ${text}) IS TRUE`;
}
