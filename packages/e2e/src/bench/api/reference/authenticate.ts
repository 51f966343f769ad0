import { createHash } from "node:crypto";
import type { Context } from "hono";
import { HTTPException } from "hono/http-exception";
import type { Pool } from "pg";
import { statement } from "./statement.ts";

export interface Bearer {
  readonly keyId: string;
  readonly orgId: string;
  readonly capabilities: readonly string[];
  readonly projectIds: readonly string[];
  readonly deviceId: string;
}

/** Does the same lookup as the control plane, by the same hash, in one statement. */
const findBearer = statement<Bearer>(
  "bearer",
  `SELECT coalesce(k.id, d.id, t.id) AS "keyId", coalesce(k."orgId", d."orgId", t."orgId") AS "orgId", k.capabilities,
      k."projectIds", d."deviceId"
    FROM "Credential" c LEFT JOIN "ApiKey" k ON k.id = c."apiKeyId" LEFT JOIN "DeviceToken" d ON d.id = c."deviceTokenId"
      LEFT JOIN "SiteToken" t ON t.id = c."siteTokenId" LEFT JOIN "Site" s ON s.id = t."siteId"
    WHERE c."tokenSha256" = $1 AND coalesce(k.enabled, d.enabled, true)`,
);

export async function authenticate(pool: Pool, c: Context, capability?: string): Promise<Bearer> {
  const token = c.req.header("authorization")?.slice("Bearer ".length) ?? "";
  const [bearer] = await findBearer(pool, [createHash("sha256").update(token).digest("hex")]);
  if (!bearer) throw new HTTPException(401);
  if (capability !== undefined && !bearer.capabilities.some((held) => held === "*" || held === capability))
    throw new HTTPException(403);
  return bearer;
}
