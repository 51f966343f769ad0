import { Prisma } from "../../db/generated/client.ts";
import { patternOfPart } from "../../db/text-sql.ts";
import { hasPairs, hasTrigram } from "./letter-pairs.ts";

interface PartCondition {
  readonly where: Prisma.Sql;
  /** The same condition, for an index of letter pairs. */
  readonly narrowed?: Prisma.Sql;
}

/**
 * The condition that a column's text has a part, in upper or lower case. `GIN (column gin_trgm_ops)` serves it; if the part has no three
 * letters, `GIN (downlink_letter_pairs(lower(column)))` does, if it exists.
 */
export function hasPart(column: Prisma.Sql, part: string): PartCondition {
  if (hasTrigram(part)) return { where: Prisma.sql`${column} ILIKE ${patternOfPart(part)}` };
  const where = Prisma.sql`strpos(lower(${column}), lower(${part}::text)) <> 0`;
  return { where, narrowed: Prisma.sql`${hasPairs(Prisma.sql`lower(${column})`, part)} AND ${where}` };
}
