import { Prisma } from "../db/generated/client.ts";
import { patternOfPart } from "../db/text-sql.ts";
import { hasPairs, hasTrigram } from "./letter-pairs.ts";

interface PartCondition {
  readonly where: Prisma.Sql;
  /** The same, for an index of letter pairs. */
  readonly narrowed?: Prisma.Sql;
}

/**
 * Of a column whose text has a part, in any case. Served by `GIN (column gin_trgm_ops)`; where the part has no three letters, by
 * `GIN (downlink_letter_pairs(lower(column)))` if there is one.
 */
export function hasPart(column: Prisma.Sql, part: string): PartCondition {
  if (hasTrigram(part)) return { where: Prisma.sql`${column} ILIKE ${patternOfPart(part)}` };
  const where = Prisma.sql`strpos(lower(${column}), lower(${part}::text)) <> 0`;
  return { where, narrowed: Prisma.sql`${hasPairs(Prisma.sql`lower(${column})`, part)} AND ${where}` };
}
