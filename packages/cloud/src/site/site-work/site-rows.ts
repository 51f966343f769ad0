import type { SiteRequestState } from "@downlink/protocol";
import type { ImportRequestModel, SiteKeyModel } from "../../db/generated/models.ts";

/** The keys as the site gets them. */
export function toKeys(keys: readonly SiteKeyModel[]): { id: string; secret: string }[] {
  return keys.map(({ id, secret }) => ({ id, secret }));
}

/** The state of a request, as a site gets it; `unknown` if the request was not given to this site. */
export function toState(request: Pick<ImportRequestModel, "state"> | null | undefined): SiteRequestState {
  if (!request) return "unknown";
  return request.state === "ready for indexing" ? "processing" : request.state;
}
