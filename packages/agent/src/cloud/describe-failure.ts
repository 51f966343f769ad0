import { ApiFailure, NetworkFailure } from "@downlink/client";
import type { ErrorCode } from "@downlink/protocol";
import type { ProblemCode } from "../diagnostics/problems.ts";

const byCode: Partial<Record<ErrorCode, ProblemCode>> = {
  Unauthenticated: "TokenRefused",
  DeviceTokenUnassociated: "TokenRefused",
  WrongCredentialKind: "TokenRefused",
  MissingCapability: "TokenRefused",
  DeviceDisabled: "DeviceDisabled",
  NameTaken: "DeviceNameTaken",
  LeaseHeldElsewhere: "LeaseHeldElsewhere",
  Cloned: "Cloned",
  RateLimited: "CloudBusy",
  StorageFull: "CloudStorageFull",
  QuotaReached: "CloudQuotaReached",
};

/** A call failed because of the control plane or the way to it. Any other error is a mistake of the agent. */
export type CloudFailure = ApiFailure | NetworkFailure;

export function isCloudFailure(error: unknown): error is CloudFailure {
  return error instanceof ApiFailure || error instanceof NetworkFailure;
}

/** Which problem a failed call shows; undefined for answers that belong to the normal course of things. */
export function problemOf(failure: unknown): ProblemCode | undefined {
  if (failure instanceof NetworkFailure) return networkProblemOf(failure);
  if (!(failure instanceof ApiFailure)) return undefined;
  const known = byCode[failure.code as ErrorCode];
  if (known) return known;
  if (failure.status >= 500 || failure.status === 429) return "CloudBusy";
  return failure.code === undefined ? "ForeignAnswer" : undefined;
}

const resolverCodes: ReadonlySet<string> = new Set(["ENOTFOUND", "EAI_AGAIN", "EAI_FAIL", "EAI_NODATA", "EAI_NONAME"]);
/** Those of OpenSSL's verification and of its protocol. A handshake that is cut is a network's trouble, as any cut. */
const TLS_CODE = /CERT|ISSUER|SIGNATURE|CRL|HOSTNAME_MISMATCH|^ERR_(SSL|TLS)_|^EPROTO$/;

function networkProblemOf({ cause }: NetworkFailure): ProblemCode {
  const code = (cause as NodeJS.ErrnoException | undefined)?.code ?? "";
  if (code === "ERR_PROXY_REFUSED") return "ProxyRefused";
  if (resolverCodes.has(code)) return "NameUnresolved";
  return TLS_CODE.test(code) ? "TlsFailed" : "CloudUnreachable";
}

/** The way to the cloud is fine, and there is no room at its end. */
export const roomTroubles: readonly ProblemCode[] = ["CloudStorageFull", "CloudQuotaReached"];

/** What a call that came through proves to be over. */
export const provedOver = [
  "CloudUnreachable",
  "NameUnresolved",
  "TlsFailed",
  "ProxyRefused",
  "ForeignAnswer",
  "CloudBusy",
  "TokenRefused",
  "DeviceNameTaken",
  "LeaseHeldElsewhere",
  "Cloned",
] as const;
