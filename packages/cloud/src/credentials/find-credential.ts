// One table holds the hashes of all kinds of token (`Credential`): no enrolment registers another token's hash, and
// one statement says whose a token is. What API keys say is remembered for at most 5 s
// (`credentials/kept-credentials.ts`): the process that changes a key forgets all before it answers, triggers tell
// the others, and what was told on a connection that is not proven to be there, within the last second, counts for
// nothing. An agent's token is asked for at each call.

import type { Database } from "../db/client.ts";
import { parameter, prepare } from "../db/prepared.ts";

/** What a token of some kind says of its bearer, and until when. */
export type Credential = Bearer & { readonly expiresAtNs: bigint | null };

type Bearer =
  | {
      readonly kind: "apiKey";
      readonly tokenId: string;
      readonly orgId: string;
      readonly capabilities: readonly string[];
      readonly projectIds: readonly string[];
    }
  | {
      readonly kind: "deviceToken";
      readonly tokenId: string;
      readonly orgId: string;
      readonly projectId: string;
      readonly deviceId: string | null;
      readonly preapproved: boolean;
    }
  | {
      readonly kind: "siteToken";
      readonly tokenId: string;
      readonly orgId: string;
      readonly siteId: string;
      readonly siteType: string;
    }
  | { readonly kind: "inboxToken" };

/** The credential with this hash, found by one statement; undefined where there is none, or where it is disabled. */
export async function findCredential(db: Pick<Database, "pool">, tokenSha256: string): Promise<Credential | undefined> {
  const [row] = await selectCredential(db, [tokenSha256]);
  const bearer = row && toBearer(row);
  return bearer && { ...bearer, expiresAtNs: row.expiresAtNs };
}

const selectCredential = prepare((db) =>
  db
    .selectFrom("Credential as c")
    .leftJoin("ApiKey as k", "k.id", "c.apiKeyId")
    .leftJoin("DeviceToken as d", "d.id", "c.deviceTokenId")
    .leftJoin("SiteToken as t", "t.id", "c.siteTokenId")
    .leftJoin("Site as s", "s.id", "t.siteId")
    .select("c.expiresAtNs")
    .select(["k.id as keyId", "k.orgId as keyOrgId", "k.enabled as isKeyEnabled", "k.capabilities", "k.projectIds"])
    .select(["d.id as deviceTokenId", "d.orgId as deviceOrgId", "d.enabled as isDeviceTokenEnabled"])
    .select(["d.projectId", "d.deviceId", "d.preapproved"])
    .select(["t.id as siteTokenId", "t.orgId as siteOrgId", "t.siteId", "s.type as siteType"])
    .where("c.tokenSha256", "=", parameter<string>(1)),
);

type Row = Awaited<ReturnType<typeof selectCredential>>[number];

/** The columns of a token that the credential has are never null. */
function toBearer(row: Row): Bearer | undefined {
  if (row.keyId !== null) {
    const { keyId: tokenId, keyOrgId, capabilities, projectIds } = row;
    if (!row.isKeyEnabled) return undefined;
    return { kind: "apiKey", tokenId, orgId: keyOrgId!, capabilities: capabilities!, projectIds: projectIds! };
  }
  if (row.deviceTokenId !== null) {
    const { deviceTokenId: tokenId, deviceOrgId, projectId, deviceId, preapproved } = row;
    if (!row.isDeviceTokenEnabled) return undefined;
    const owner = { orgId: deviceOrgId!, projectId: projectId!, deviceId };
    return { kind: "deviceToken", tokenId, ...owner, preapproved: preapproved! };
  }
  if (row.siteTokenId === null) return { kind: "inboxToken" };
  const { siteTokenId: tokenId, siteOrgId, siteId, siteType } = row;
  return { kind: "siteToken", tokenId, orgId: siteOrgId!, siteId: siteId!, siteType: siteType! };
}
