import { ApiCallError, NetworkError } from "@downlink/client";
import { isLeaseTrouble } from "../cloud/session.ts";

/** Answers by which the whole upload cannot go on. */
const endings = ["RequestSuperseded", "VersionSuperseded", "UploadClosed", "NotFound"];
const MAX_REFUSALS = 4;

/**
 * Returns whether one part is worth trying again within the same upload. After a network failure it always is, because a new upload would
 * use the same network. After refusals it is only a few times, because another file may succeed.
 */
export function isPartWorthRetrying(failure: unknown, attempt: number): boolean {
  if (failure instanceof NetworkError || isLeaseTrouble(failure)) return true;
  if (!(failure instanceof ApiCallError)) return false;
  return attempt < MAX_REFUSALS && !endings.includes(failure.code ?? "");
}
