import type { Pool } from "pg";

export interface SeededAgent {
  readonly deviceId: string;
  readonly token: string;
}

/** Inserts any number of devices quickly into the first project, each with a token for its agent. */
export async function seedFleet(pool: Pick<Pool, "query">, count: number): Promise<SeededAgent[]> {
  const devices = Array.from({ length: count }, (_, n) => ({ id: `dev_fleet_${n}`, token: `dl_dt_fleet_${n}` }));
  await pool.query(
    `WITH project AS (SELECT id, "orgId" FROM "Project" ORDER BY id LIMIT 1),
      given AS (SELECT * FROM unnest($1::text[], $2::text[]) AS given(id, token)),
      device AS (
        INSERT INTO "Device" (id, "orgId", "projectId", name, "createdAtNs", "updatedAtNs")
        SELECT g.id, p."orgId", p.id, g.id, 0, 0 FROM given g, project p),
      token AS (
        INSERT INTO "DeviceToken" (id, "orgId", "projectId", "deviceId", "createdAtNs")
        SELECT 'token_of_' || g.id, p."orgId", p.id, g.id, 0 FROM given g, project p)
    INSERT INTO "Credential" ("tokenSha256", "deviceTokenId")
    SELECT encode(sha256(convert_to(token, 'UTF8')), 'hex'), 'token_of_' || id FROM given`,
    [devices.map(({ id }) => id), devices.map(({ token }) => token)],
  );
  return devices.map(({ id, token }) => ({ deviceId: id, token }));
}
