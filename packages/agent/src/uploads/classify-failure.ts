import { ApiCallError } from "@downlink/client";
import { SourceChangedError } from "@downlink/recordings";
import { FileMovedError } from "../files/open-tracked.ts";
import { isFileSystemError } from "../system/system-error.ts";
import { ContentMismatchError, PartMismatchError } from "./open-upload.ts";

/**
 * The meaning of a failed upload. With `moved` the file is not the wanted version; with `rewritten` neither, but its times do not show it.
 * With `unreadable` the disk or its permissions failed. With `cancelled` the cloud does not want the file any more. With `again` the agent
 * or the cloud has a problem, and the file has none.
 */
export type UploadFailure = "moved" | "rewritten" | "unreadable" | "cancelled" | "again";

const cancelling = ["RequestSuperseded", "VersionSuperseded"];

export function classifyFailure(failure: unknown): UploadFailure {
  if (failure instanceof FileMovedError || failure instanceof SourceChangedError) return "moved";
  if (failure instanceof PartMismatchError || failure instanceof ContentMismatchError) return "rewritten";
  if (isFileSystemError(failure)) return "unreadable";
  if (failure instanceof ApiCallError && cancelling.includes(failure.code ?? "")) return "cancelled";
  return "again";
}
