import type { AgentPoint } from "@downlink/protocol";
import type { Ctx } from "../../calls/context/context.ts";
import type { Complete } from "../../core/complete.ts";

interface Page {
  readonly limit: number;
  readonly offset: number;
}

/** Finds the agent points of a device or of an edge site; a background job keeps them up to date (see agent-points.ts). */
export async function findAgentPoints(
  { db }: Ctx,
  agent: { readonly deviceId: string } | { readonly siteId: string },
  { limit, offset }: Page,
): Promise<Complete<AgentPoint>[]> {
  const rows = await db.prisma.agentPoint.findMany({
    where: { agent },
    orderBy: { atNs: "asc" },
    take: limit,
    skip: offset,
  });
  return rows.map(({ atNs, freeBytes, bytesPerSecond, problems }) => {
    return { at: atNs, freeBytes: freeBytes === null ? undefined : Number(freeBytes), bytesPerSecond, problems };
  });
}
