import { type Access, everyCapability, leaseHeader } from "@downlink/protocol";
import type { Caller, Deps } from "../context.ts";
import { hashToken } from "../tokens/mint.ts";
import { ApiError, invalid, refuse } from "./errors.ts";

/** The caller behind the bearer token; 401 where there is none, 403 where it may not make this call. */
export async function authenticate(deps: Deps, headers: Headers, access: Access): Promise<Caller> {
  const tokenSha256 = hashToken(bearerToken(headers));
  const lease = readLease(headers);
  const caller =
    (await findApiKey(deps, tokenSha256)) ??
    (await findDeviceToken(deps, tokenSha256, lease)) ??
    (await findEdgeSite(deps, tokenSha256, lease));
  if (caller) return allow(caller, access);
  if (await isOfSite(deps, tokenSha256)) throw wrongKind(access);
  throw new ApiError("Unauthenticated", "the token is unknown, disabled or revoked");
}

function allow(caller: Caller, access: Access): Caller {
  if (access.kind === "agent" && caller.kind === "enrolment")
    refuse("DeviceTokenUnassociated", "this device token belongs to no device; it can only create one, by enrolment");
  if (access.kind !== caller.kind) throw wrongKind(access);
  if (access.kind !== "apiKey" || caller.kind !== "apiKey") return caller;
  if (!caller.capabilities.includes(access.capability) && !caller.capabilities.includes(everyCapability))
    throw new ApiError("MissingCapability", `the API key lacks the capability ${access.capability}`);
  return caller;
}

function wrongKind(access: Access): ApiError {
  return new ApiError("WrongCredentialKind", `this operation takes ${wanted[access.kind]}`);
}

const wanted = {
  apiKey: "an API key",
  agent: "a device token, or the token of an edge site",
  enrolment: "a device token that belongs to no device",
} as const;

async function findApiKey(deps: Deps, tokenSha256: string): Promise<Caller | undefined> {
  const key = await deps.db.prisma.apiKey.findUnique({ where: { tokenSha256 } });
  if (!key?.enabled) return undefined;
  return {
    kind: "apiKey",
    keyId: key.id,
    orgId: key.orgId,
    capabilities: key.capabilities,
    projectIds: key.projectIds,
  };
}

async function findDeviceToken(
  deps: Deps,
  tokenSha256: string,
  lease: bigint | undefined,
): Promise<Caller | undefined> {
  const token = await deps.db.prisma.deviceToken.findUnique({ where: { tokenSha256 } });
  if (!token?.enabled) return undefined;
  const { id: tokenId, orgId, projectId, deviceId, preapproved } = token;
  if (deviceId === null) return { kind: "enrolment", tokenId, orgId, projectId, preapproved };
  return { kind: "agent", tokenId, orgId, projectId, deviceId, siteId: null, lease };
}

async function findEdgeSite(deps: Deps, tokenSha256: string, lease: bigint | undefined): Promise<Caller | undefined> {
  const token = await deps.db.prisma.siteToken.findUnique({
    where: { tokenSha256 },
    include: { site: { select: { type: true } } },
  });
  if (token?.site.type !== "edge") return undefined;
  const { id: tokenId, orgId, siteId } = token;
  return { kind: "agent", tokenId, orgId, projectId: null, deviceId: null, siteId, lease };
}

/** The token of another site or an inbox notification token: known, but good for none of the operations of a contract. */
async function isOfSite({ db }: Deps, tokenSha256: string): Promise<boolean> {
  const [ofSite, ofInbox] = await Promise.all([
    db.prisma.siteToken.findUnique({ where: { tokenSha256 }, select: { id: true } }),
    db.prisma.inboxToken.findUnique({ where: { tokenSha256 }, select: { id: true } }),
  ]);
  return ofSite !== null || ofInbox !== null;
}

function bearerToken(headers: Headers): string {
  const token = /^bearer +(\S+) *$/i.exec(headers.get("authorization") ?? "")?.[1];
  return token ?? refuse("Unauthenticated", "an Authorization header with a bearer token is required");
}

function readLease(headers: Headers): bigint | undefined {
  const text = headers.get(leaseHeader);
  if (text === null) return undefined;
  return /^\d{1,18}$/.test(text) ? BigInt(text) : invalid(leaseHeader, "expected the number of a lease");
}
