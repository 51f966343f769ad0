// A key that is limited to some projects changes nothing of the organization: each operation of the contract says
// whose its things are (`reach`), and a call is refused by it alone (403 `ProjectLimited`). `limited-key.slow.ts`
// calls every operation with such a key and with the other project's things in the place of each reference, and
// compares all rows of the database.
//
// Site and inbox tokens are known here as credentials of the wrong kind: 403, not 401, so that whoever mixed two
// tokens up sees it.

import { type Access, EVERY_CAPABILITY, LEASE_HEADER } from "@downlink/protocol";
import type { Deps } from "../context/context.ts";
import type { ApiKeyCaller, Caller } from "../core/callers.ts";
import { ApiError, invalid, refuse } from "../core/errors.ts";
import type { Credential } from "../credentials/find-credential.ts";
import { hashToken } from "../credentials/mint.ts";

type AuthenticateDeps = Pick<Deps, "credentials" | "clock" | "tokenUses">;

/** The caller behind the bearer token; 401 where there is none, 403 where it may not make this call. */
export async function authenticate(deps: AuthenticateDeps, headers: Headers, access: Access): Promise<Caller> {
  const { credentials, clock, tokenUses } = deps;
  const tokenSha256 = hashToken(bearerToken(headers));
  const lease = readLease(headers);
  const credential = await credentials.find(tokenSha256);
  if (!credential) throw new ApiError("Unauthenticated", "the token is unknown, disabled or revoked");
  if (credential.expiresAtNs !== null && credential.expiresAtNs <= clock.nowNs())
    throw new ApiError("Unauthenticated", "the token has expired");
  tokenUses.note(tokenSha256);
  const caller = toCaller(credential, lease);
  return caller ? allow(caller, access) : refuseKind(access);
}

function allow(caller: Caller, access: Access): Caller {
  if (access.kind === "agent" && caller.kind === "enrolment")
    refuse("DeviceTokenUnassociated", "this device token belongs to no device; it can only create one, by enrolment");
  if (access.kind !== caller.kind) refuseKind(access);
  if (access.kind !== "apiKey" || caller.kind !== "apiKey") return caller;
  if (!caller.capabilities.includes(access.capability) && !caller.capabilities.includes(EVERY_CAPABILITY))
    throw new ApiError("MissingCapability", `the API key lacks the capability ${access.capability}`);
  if (access.reach === "organization") requireAllProjects(caller);
  return caller;
}

function requireAllProjects({ projectIds }: ApiKeyCaller): void {
  if (projectIds.length > 0)
    refuse("ProjectLimited", "the API key is limited to some projects; this takes one for the whole organization");
}

function refuseKind(access: Access): never {
  refuse("WrongCredentialKind", `this operation takes ${wanted[access.kind]}`);
}

const wanted = {
  apiKey: "an API key",
  agent: "a device token, or the token of an edge site",
  enrolment: "a device token that belongs to no device",
} as const;

/** None behind the token of a site that is no edge site, and behind an inbox notification token: no operation takes those. */
function toCaller(credential: Credential, lease: bigint | undefined): Caller | undefined {
  if (credential.kind === "apiKey") {
    const { tokenId: keyId, orgId, capabilities, projectIds, expiresAtNs } = credential;
    return { kind: "apiKey", keyId, orgId, capabilities, projectIds, expiresAtNs };
  }
  if (credential.kind === "deviceToken") return toDeviceCaller(credential, lease);
  if (credential.kind === "inboxToken" || credential.siteType !== "edge") return undefined;
  const { tokenId, orgId, siteId } = credential;
  return { kind: "agent", tokenId, orgId, projectId: null, deviceId: null, siteId, lease };
}

function toDeviceCaller(token: Extract<Credential, { kind: "deviceToken" }>, lease: bigint | undefined): Caller {
  const { tokenId, orgId, projectId, deviceId, preapproved } = token;
  if (deviceId === null) return { kind: "enrolment", tokenId, orgId, projectId, preapproved };
  return { kind: "agent", tokenId, orgId, projectId, deviceId, siteId: null, lease };
}

function bearerToken(headers: Headers): string {
  const token = /^bearer +(\S+) *$/i.exec(headers.get("authorization") ?? "")?.[1];
  return token ?? refuse("Unauthenticated", "an Authorization header with a bearer token is required");
}

function readLease(headers: Headers): bigint | undefined {
  const text = headers.get(LEASE_HEADER);
  if (text === null) return undefined;
  return /^\d{1,18}$/.test(text) ? BigInt(text) : invalid(LEASE_HEADER, "must be the number of a lease");
}
