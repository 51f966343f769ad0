// One table holds the hashes of all kinds of token (`Credential`): so no token can be registered twice under different kinds, and one
// statement says whose a token is. `kept-credentials.ts` remembers those of API keys for at most 5 s; an agent's token is looked up at each
// call.

import type { Database } from "../../db/client.ts";
import { type Parameters, prepare } from "../../db/prepared.ts";

/** The bearer of a token, and when the token ends. */
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
  | { readonly kind: "inboxToken"; readonly tokenId: string; readonly orgId: string; readonly siteId: string };

/** Finds the credential with this hash by one statement; returns undefined if there is none, or if it is disabled. */
export async function findCredential(db: Pick<Database, "pool">, tokenSha256: string): Promise<Credential | undefined> {
  const [row] = await selectCredential(db, { tokenSha256 });
  const bearer = row && toBearer(row);
  return bearer && { ...bearer, expiresAtNs: row.expiresAtNs };
}

const selectCredential = prepare((db, { tokenSha256 }: Parameters<{ tokenSha256: string }>) =>
  db
    .selectFrom("Credential as c")
    .leftJoin("ApiKey as k", "k.id", "c.apiKeyId")
    .leftJoin("DeviceToken as d", "d.id", "c.deviceTokenId")
    .leftJoin("SiteToken as t", "t.id", "c.siteTokenId")
    .leftJoin("Site as s", "s.id", "t.siteId")
    .leftJoin("InboxToken as i", "i.id", "c.inboxTokenId")
    .select("c.expiresAtNs")
    .select(["k.id as keyId", "k.orgId as keyOrgId", "k.enabled as isKeyEnabled", "k.capabilities", "k.projectIds"])
    .select(["d.id as deviceTokenId", "d.orgId as deviceOrgId", "d.enabled as isDeviceTokenEnabled"])
    .select(["d.projectId", "d.deviceId", "d.preapproved"])
    .select(["t.id as siteTokenId", "t.orgId as siteOrgId", "t.siteId", "s.type as siteType"])
    .select(["i.id as inboxTokenId", "i.orgId as inboxOrgId", "i.siteId as inboxSiteId"])
    .where("c.tokenSha256", "=", tokenSha256),
);

type Row = Awaited<ReturnType<typeof selectCredential>>[number];

/** The columns of the kind of token that a credential belongs to are never null. */
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
  if (row.siteTokenId === null) {
    const { inboxTokenId, inboxOrgId, inboxSiteId } = row;
    return { kind: "inboxToken", tokenId: inboxTokenId!, orgId: inboxOrgId!, siteId: inboxSiteId! };
  }
  const { siteTokenId: tokenId, siteOrgId, siteId, siteType } = row;
  return { kind: "siteToken", tokenId, orgId: siteOrgId!, siteId: siteId!, siteType: siteType! };
}
