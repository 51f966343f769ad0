// The rights of a member are read with the session at each call, and never kept. A member who is no admin sees the projects that are open
// and those that list the member; while these are all projects, the list is empty, as for every caller who sees all.

import { EVERY_CAPABILITY, userCapabilities } from "@downlink/protocol";
import { sql } from "kysely";
import type { ApiKeyCaller, MemberCaller, PersonCaller } from "../../core/callers.ts";
import type { Database } from "../../db/client.ts";
import { type Parameters, prepare } from "../../db/prepared.ts";

export const SESSION_IDLE_NS = 12n * 3600n * 1_000_000_000n;
const MINUTE_NS = 60_000_000_000n;
/** It stands for no project: an empty list would stand for all. */
const NO_PROJECT = "prj_none";

interface Row {
  readonly id: string;
  readonly lastUsedAtNs: bigint;
  readonly isOfProgram: boolean;
  readonly memberId: string | null;
  readonly accountId: string;
  readonly orgId: string;
  readonly role: "admin" | "user";
  readonly hidesProjects: boolean;
  readonly seenProjectIds: readonly string[];
  readonly keyId: string | null;
  readonly keyOrgId: string;
  readonly capabilities: readonly string[];
  readonly projectIds: readonly string[];
  readonly keyExpiresAtNs: bigint | null;
}

interface Sought {
  readonly tokenSha256: string;
  readonly nowNs: bigint;
  /** A session of a browser that was used last before this has ended. */
  readonly idleSinceNs: bigint;
}

const findRow = prepare(
  (_db, { tokenSha256, nowNs, idleSinceNs }: Parameters<Sought>) => sql<Row>`
    SELECT s.id, s."lastUsedAtNs", s."isOfProgram", m.id AS "memberId", m."accountId", m."orgId", m.role,
      k.id AS "keyId", k."orgId" AS "keyOrgId", k.capabilities, k."projectIds", c."expiresAtNs" AS "keyExpiresAtNs",
      EXISTS (SELECT FROM "Project" p WHERE p."orgId" = m."orgId" AND p."isInviteOnly" AND NOT EXISTS (
        SELECT FROM "ProjectMember" pm WHERE pm."projectId" = p.id AND pm."memberId" = m.id)) AS "hidesProjects",
      ARRAY (SELECT p.id FROM "Project" p WHERE p."orgId" = m."orgId" AND (NOT p."isInviteOnly" OR EXISTS (
        SELECT FROM "ProjectMember" pm WHERE pm."projectId" = p.id AND pm."memberId" = m.id))) AS "seenProjectIds"
    FROM "SignInSession" s
    LEFT JOIN "Member" m ON m.id = s."memberId"
    LEFT JOIN "ApiKey" k ON k.id = s."apiKeyId" AND k.enabled
    LEFT JOIN "Credential" c ON c."apiKeyId" = k.id
    WHERE s."tokenSha256" = ${tokenSha256} AND s."expiresAtNs" > ${nowNs} AND (s."isOfProgram" OR s."lastUsedAtNs" > ${idleSinceNs})
      AND (m.id IS NOT NULL OR k.id IS NOT NULL) AND (c."expiresAtNs" IS NULL OR c."expiresAtNs" > ${nowNs})`,
);

const noteUse = prepare((db, { id, minuteNs }: Parameters<{ id: string; minuteNs: bigint }>) =>
  db
    .updateTable("SignInSession")
    .set({ lastUsedAtNs: minuteNs })
    .where("id", "=", id)
    .where("lastUsedAtNs", "<", minuteNs),
);

/** A key is used by the sessions that it began, too. */
const noteKeyUse = prepare((db, { keyId, minuteNs }: Parameters<{ keyId: string; minuteNs: bigint }>) =>
  db
    .updateTable("Credential")
    .set({ lastUsedAtNs: minuteNs })
    .where("apiKeyId", "=", keyId)
    .where((where) => where.or([where("lastUsedAtNs", "is", null), where("lastUsedAtNs", "<", minuteNs)])),
);

/** Finds who calls with a session by one statement; undefined if there is none, or if it has ended. Notes its use to the minute. */
export async function findSession(
  db: Pick<Database, "pool">,
  tokenSha256: string,
  nowNs: bigint,
): Promise<PersonCaller | undefined> {
  const [row] = await findRow(db, { tokenSha256, nowNs, idleSinceNs: nowNs - SESSION_IDLE_NS });
  if (!row) return undefined;
  const minuteNs = nowNs - (nowNs % MINUTE_NS);
  if (row.lastUsedAtNs + MINUTE_NS <= nowNs) {
    await noteUse(db, { id: row.id, minuteNs });
    if (row.keyId !== null) await noteKeyUse(db, { keyId: row.keyId, minuteNs });
  }
  return row.memberId === null ? toKeyCaller(row) : toMemberCaller(row, row.memberId);
}

function toMemberCaller(row: Row, memberId: string): MemberCaller {
  const { id: sessionId, accountId, orgId, role, isOfProgram } = row;
  const who = { kind: "member", memberId, accountId, sessionId, isOfProgram } as const;
  const seen = row.seenProjectIds.length > 0 ? row.seenProjectIds : [NO_PROJECT];
  const sees = { projectIds: role === "user" && row.hidesProjects ? seen : [] };
  const capabilities = role === "admin" ? [EVERY_CAPABILITY] : userCapabilities;
  return { ...who, orgId, role, capabilities, ...sees, expiresAtNs: null };
}

function toKeyCaller({ id: sessionId, keyId, keyOrgId: orgId, ...row }: Row): ApiKeyCaller {
  const { capabilities, projectIds, keyExpiresAtNs: expiresAtNs } = row;
  return { kind: "apiKey", keyId: keyId!, sessionId, orgId, capabilities, projectIds, expiresAtNs };
}
