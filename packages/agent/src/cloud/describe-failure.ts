import { ApiCallError, NetworkError } from "@downlink/client";
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
export type CloudFailure = ApiCallError | NetworkError;

export function isCloudFailure(error: unknown): error is CloudFailure {
  return error instanceof ApiCallError || error instanceof NetworkError;
}

/** Returns the problem that a failed call shows; undefined for refusals that are part of normal work. */
export function problemOf(failure: unknown): ProblemCode | undefined {
  if (failure instanceof NetworkError) return networkProblemOf(failure);
  if (!(failure instanceof ApiCallError)) return undefined;
  const known = byCode[failure.code as ErrorCode];
  if (known) return known;
  if (failure.status >= 500 || failure.status === 429) return "CloudBusy";
  return failure.code === undefined ? "ForeignAnswer" : undefined;
}

const resolverCodes: ReadonlySet<string> = new Set(["ENOTFOUND", "EAI_AGAIN", "EAI_FAIL", "EAI_NODATA", "EAI_NONAME"]);
/** Codes of OpenSSL's verification and protocol. A handshake that is cut off is a network problem, like every cut. */
const TLS_CODE = /CERT|ISSUER|SIGNATURE|CRL|HOSTNAME_MISMATCH|^ERR_(SSL|TLS)_|^EPROTO$/;

function networkProblemOf({ cause }: NetworkError): ProblemCode {
  const code = (cause as NodeJS.ErrnoException | undefined)?.code ?? "";
  if (code === "ERR_PROXY_REFUSED") return "ProxyRefused";
  if (resolverCodes.has(code)) return "NameUnresolved";
  return TLS_CODE.test(code) ? "TlsFailed" : "CloudUnreachable";
}

/** The connection works, and the cloud has no room. */
export const roomTroubles: readonly ProblemCode[] = ["CloudStorageFull", "CloudQuotaReached"];

/** Problems that are over once a call succeeds. */
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
