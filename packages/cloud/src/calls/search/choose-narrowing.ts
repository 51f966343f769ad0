import { Prisma } from "../../db/generated/client.ts";
import type { Ctx } from "../context/context.ts";
import { hasShortText, jsonbWhere, type Narrowing } from "./jsonb-where.ts";
import type { Term } from "./terms.ts";

const SAMPLE_ROWS = 5000;
/** A text that matches a page's worth of the sample is common. */
const COMMON_ROWS = 50;

/**
 * Decides how to narrow a search in `properties`. Pairs of letters find a rare text at once, but cost more than reading the rows if most of
 * them match. The planner cannot know that, but a sample shows it.
 */
export async function chooseNarrowing(
  ctx: Ctx,
  table: "Device" | "Session",
  terms: readonly Term[],
): Promise<Narrowing> {
  if (!hasShortText(terms)) return "trigrams";
  const [sampled] = await ctx.db.prisma.$queryRaw<[{ count: bigint }]>`
    SELECT count(*) FROM (
      SELECT properties FROM ${Prisma.raw(`"${table}"`)} WHERE "orgId" = ${ctx.caller.orgId} LIMIT ${SAMPLE_ROWS}
    ) s WHERE ${jsonbWhere(Prisma.sql`s.properties`, terms)}`;
  return Number(sampled.count) < COMMON_ROWS ? "pairs" : "trigrams";
}
