import { maySalvage } from "@downlink/recordings";
import type { ImportRequestModel } from "../../db/generated/models.ts";
import { type ImportRequestState, workingStates } from "../../import-life/import-request-state.ts";

type Request = Pick<
  ImportRequestModel,
  "id" | "source" | "state" | "errorCode" | "errorText" | "blobKey" | "siteObjectKey"
>;

/** Returns why the file of a request cannot be salvaged here, with advice; undefined if it can. */
export function explainNotSalvageable({ id, source, state, ...request }: Request): string | undefined {
  if (source === "salvage") return `import request ${id} is a salvage itself; salvage the file that it is made of`;
  if (source === "bucket")
    return `import request ${id} is of a file in a customer's bucket, which is read where it is; salvage the file and put it there`;
  if (source === "edge" && request.blobKey === null && request.siteObjectKey === null)
    return `no bytes of import request ${id} are stored here; if its device lists the file as damaged, salvage it there, by POST /v1/edge-files/{id}/salvage`;
  if (state === "awaiting") return `the file of import request ${id} has not come yet`;
  if (state === "cancelled") return `import request ${id} was cancelled, and its file is not stored; upload it again`;
  if (state === "complete") return `the file of import request ${id} was imported whole; there is nothing to salvage`;
  if (isUnderWay(state)) return `the file of import request ${id} is being processed; wait for the end of its import`;
  return explainNotError(id, request);
}

function explainNotError(
  id: string,
  { errorCode, errorText, blobKey, siteObjectKey }: Omit<Request, "id" | "source" | "state">,
) {
  if (blobKey === null && siteObjectKey === null)
    return `the file of import request ${id} is no longer stored; upload it again`;
  if (errorCode !== null && maySalvage(errorCode)) return undefined;
  const reason = `${errorCode ?? "no code"}: ${errorText ?? "no reason"}`;
  return `import request ${id} did not fail because its file is incomplete or damaged, but with ${reason}; see to that, then retry it or upload the file again`;
}

/** Says whether a job works on the stored file at this moment. */
export function isUnderWay(state: ImportRequestState): boolean {
  return workingStates.some((working) => working === state);
}
