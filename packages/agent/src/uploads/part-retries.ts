import { ApiFailure, NetworkFailure } from "@downlink/client";
import { isLeaseTrouble } from "../cloud/session.ts";

/** Answers that say of the whole upload that it cannot go on. */
const endings = ["RequestSuperseded", "VersionSuperseded", "UploadClosed", "NotFound"];
const MAX_REFUSALS = 4;

/**
 * Whether one part is worth trying again within the same upload. Network trouble for as long as it takes: a new try would
 * have nothing but the same network. Refusals a few times only, for another file may fare better.
 */
export function isPartWorthRetrying(failure: unknown, attempt: number): boolean {
  if (failure instanceof NetworkFailure || isLeaseTrouble(failure)) return true;
  if (!(failure instanceof ApiFailure)) return false;
  return attempt < MAX_REFUSALS && !endings.includes(failure.code ?? "");
}
