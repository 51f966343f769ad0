import { Prisma } from "./generated/client.ts";

/**
 * The condition that a text of rows `r` is this one, by an index over its MD5, because an index cannot hold long texts. The planner assumes
 * that conditions are independent, and would count the comparison of the texts a second time; `or another hash` only corrects that
 * estimate.
 */
export function equalsByHash(column: string, text: string): Prisma.Sql {
  const value = Prisma.raw(`r."${column}"`);
  const hash = Prisma.sql`md5(${value})`;
  return Prisma.sql`${hash} = md5(${text}) AND (${value} = ${text} OR ${hash} <> md5(${text}))`;
}
