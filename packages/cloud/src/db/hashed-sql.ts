import { Prisma } from "./generated/client.ts";

/**
 * Whether a text of rows `r` is this one, by an index over its MD5: an index holds no long texts. The planner, which takes
 * conditions for independent, would count the text's comparison a second time; `or another hash` changes nothing but that.
 */
export function equalsByHash(column: string, text: string): Prisma.Sql {
  const value = Prisma.raw(`r."${column}"`);
  const hash = Prisma.sql`md5(${value})`;
  return Prisma.sql`${hash} = md5(${text}) AND (${value} = ${text} OR ${hash} <> md5(${text}))`;
}
