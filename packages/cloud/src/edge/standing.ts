import type { AgentCaller, Deps } from "../context.ts";
import { ApiError } from "../http/errors.ts";

/** What a call that waits has to look at again: it was let in under what may not hold any more. */
export interface Standing {
  readonly incarnation: string;
}

/** 401 where the token was revoked or disabled meanwhile, as a new call would be answered. */
export async function requireStanding({ db }: Pick<Deps, "db">, caller: AgentCaller): Promise<Standing> {
  const { tokenId, deviceId, siteId } = caller;
  const [row] = await db.prisma.$queryRaw<[Standing & { isGood: boolean }]>`
    SELECT d.incarnation,
      EXISTS (SELECT FROM "DeviceToken" t WHERE t.id = ${tokenId} AND t.enabled AND t."deviceId" = ${deviceId})
      OR EXISTS (SELECT FROM "SiteToken" t JOIN "Site" s ON s.id = t."siteId"
        WHERE t.id = ${tokenId} AND s.id = ${siteId} AND s.type = 'edge') AS "isGood"
    FROM "Deployment" d WHERE d.id = 1`;
  if (!row.isGood) throw new ApiError("Unauthenticated", "the token was disabled or revoked");
  return row;
}
