// A key that is limited to some projects changes nothing of the organization: each operation of the contract says whose its resources are
// (`reach`), and that alone refuses a call (403 `ProjectLimited`). `limited-key.slow.ts` calls every operation with such a key and with the
// other project's resources in the place of each reference, and compares all rows of the database.
//
// A token of the wrong kind is 403, not 401, so that a user who confused two tokens notices it.

import { type Access, EVERY_CAPABILITY, LEASE_HEADER } from "@downlink/protocol";
import type { ApiKeyCaller, Caller } from "../../core/callers.ts";
import { ApiError, invalid, refuse } from "../../core/errors.ts";
import type { Credential } from "../../process/credentials/find-credential.ts";
import { findSession } from "../../process/credentials/find-session.ts";
import { hashToken } from "../../process/credentials/mint.ts";
import type { Deps } from "../context/context.ts";
import { sessionCookie } from "./session-cookie.ts";

type AuthenticateDeps = Pick<Deps, "credentials" | "clock" | "tokenUses" | "db" | "publicUrl">;

const SESSION_PREFIX = "dl_ses_";

/** Returns the caller behind the bearer token; 401 if there is none, 403 if it may not make this call. */
export async function authenticate(deps: AuthenticateDeps, headers: Headers, access: Access): Promise<Caller> {
  const { credentials, clock, tokenUses } = deps;
  const person = await findPerson(deps, headers);
  if (person) return allow(person, access);
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

/**
 * Returns the caller of a session, which is given as a token or as a cookie; undefined if the call has neither. A cookie counts only if the
 * call has no `Authorization` header, so that a wrong token is never replaced by the session of the browser. A text like a session's may
 * also be a key that an operator preset.
 */
async function findPerson(deps: AuthenticateDeps, headers: Headers): Promise<Caller | undefined> {
  const given = headers.get("authorization");
  const token = given === null ? sessionCookie(headers, deps) : bearerOf(given);
  if (!token?.startsWith(SESSION_PREFIX)) return undefined;
  const person = await findSession(deps.db, hashToken(token), deps.clock.nowNs());
  if (!person && given === null) throw new ApiError("Unauthenticated", "the session has ended; sign in again");
  return person;
}

/** Says whether a call is made by a browser's cookie. */
export function isByCookie(headers: Headers, deps: Pick<Deps, "publicUrl">): boolean {
  return !headers.has("authorization") && sessionCookie(headers, deps) !== undefined;
}

function allow(caller: Caller, access: Access): Caller {
  if (access.kind === "agent" && caller.kind === "enrolment")
    refuse("DeviceTokenUnassociated", "this device token belongs to no device; it can only create one, by enrolment");
  const isPerson = caller.kind === "apiKey" || caller.kind === "member";
  if (isPerson !== (access.kind === "apiKey" || access.kind === "person")) refuseKind(access);
  if (!isPerson && access.kind !== caller.kind) refuseKind(access);
  if (access.kind !== "apiKey" || !isPerson) return caller;
  if (!caller.capabilities.includes(access.capability) && !caller.capabilities.includes(EVERY_CAPABILITY))
    throw new ApiError("MissingCapability", `${names[caller.kind]} lacks the capability ${access.capability}`);
  if (access.reach === "organization" && caller.kind === "apiKey") requireAllProjects(caller);
  return caller;
}

const names = { apiKey: "the API key", member: "a member who is no admin" } as const;

function requireAllProjects({ projectIds }: ApiKeyCaller): void {
  if (projectIds.length > 0)
    refuse("ProjectLimited", "the API key is limited to some projects; this takes one for the whole organization");
}

function refuseKind(access: Access): never {
  refuse("WrongCredentialKind", `this operation takes ${wanted[access.kind]}`);
}

const wanted = {
  apiKey: "an API key or a session",
  person: "an API key or a session",
  agent: "a device token, or the token of an edge site",
  enrolment: "a device token that belongs to no device",
  inbox: "an inbox notification token",
  site: "the token of a self-hosted site",
  upload: "the capability for an upload, at its self-hosted site",
} as const;

/** There is no caller behind the token of a site that is neither an edge site nor self-hosted: no operation accepts it. */
function toCaller(credential: Credential, lease: bigint | undefined): Caller | undefined {
  if (credential.kind === "apiKey") {
    const { tokenId: keyId, orgId, capabilities, projectIds, expiresAtNs } = credential;
    return { kind: "apiKey", keyId, orgId, capabilities, projectIds, expiresAtNs };
  }
  if (credential.kind === "deviceToken") return toDeviceCaller(credential, lease);
  if (credential.kind === "inboxToken") return toInboxCaller(credential);
  const { tokenId, orgId, siteId, siteType } = credential;
  if (siteType === "self-hosted") return { kind: "site", tokenId, orgId, siteId, lease };
  if (siteType !== "edge") return undefined;
  return { kind: "agent", tokenId, orgId, projectId: null, deviceId: null, siteId, lease };
}

function toInboxCaller({ tokenId, orgId, siteId }: Extract<Credential, { kind: "inboxToken" }>): Caller {
  return { kind: "inbox", tokenId, orgId, siteId };
}

function toDeviceCaller(token: Extract<Credential, { kind: "deviceToken" }>, lease: bigint | undefined): Caller {
  const { tokenId, orgId, projectId, deviceId, preapproved } = token;
  if (deviceId === null) return { kind: "enrolment", tokenId, orgId, projectId, preapproved };
  return { kind: "agent", tokenId, orgId, projectId, deviceId, siteId: null, lease };
}

function bearerToken(headers: Headers): string {
  return (
    bearerOf(headers.get("authorization") ?? "") ??
    refuse("Unauthenticated", "an Authorization header with a bearer token is required")
  );
}

/** Returns the token of an `Authorization` header; undefined if it has none. */
export function bearerOf(authorization: string): string | undefined {
  return /^bearer +(\S+) *$/i.exec(authorization)?.[1];
}

function readLease(headers: Headers): bigint | undefined {
  const text = headers.get(LEASE_HEADER);
  if (text === null) return undefined;
  return /^\d{1,18}$/.test(text) ? BigInt(text) : invalid(LEASE_HEADER, "must be the number of a lease");
}
