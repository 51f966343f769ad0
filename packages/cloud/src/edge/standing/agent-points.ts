// The history of each agent over the last seven days has a point every five minutes. The periodic job writes it with one statement for all
// agents; heartbeats write nothing for it.

import type { Deps } from "../../calls/context/context.ts";

const STEP_NS = 300n * 1_000_000_000n;
const KEPT_NS = 7n * 86_400n * 1_000_000_000n;

/**
 * Writes one point for each agent that was heard of in these five minutes, and deletes points older than seven days. A job does this with
 * one statement for all agents, so that a heartbeat writes nothing. A status may have any shape, because an earlier version may have stored
 * it.
 */
export async function noteAgentPoints({ db, clock }: Pick<Deps, "db" | "clock">): Promise<void> {
  const nowNs = clock.nowNs();
  const atNs = nowNs - (nowNs % STEP_NS);
  await db.prisma.$executeRaw`
    INSERT INTO "AgentPoint" ("agentId", "atNs", "freeBytes", "bytesPerSecond", "problems")
    SELECT a.id, ${atNs},
      CASE WHEN jsonb_typeof(a.status #> '{disk,freeBytes}') = 'number' THEN (a.status #>> '{disk,freeBytes}')::bigint END,
      (SELECT coalesce(sum((t ->> 'bytesPerSecond')::float8), 0) FROM jsonb_array_elements(
        CASE WHEN jsonb_typeof(a.status -> 'transfers') = 'array' THEN a.status -> 'transfers' ELSE '[]' END) t),
      jsonb_array_length(a.status -> 'problems')
    FROM "Agent" a
    WHERE a."lastSeenAtNs" >= ${atNs} AND jsonb_typeof(a.status -> 'problems') = 'array'
    ON CONFLICT DO NOTHING`;
  await db.prisma.$executeRaw`DELETE FROM "AgentPoint" WHERE "atNs" < ${nowNs - KEPT_NS}`;
}
