import { ApiFailure } from "@downlink/client";
import { SourceChangedError } from "@downlink/recordings";
import { FileMovedError } from "../files/open-tracked.ts";
import { isFileSystemError } from "../system/system-error.ts";
import { ContentMismatchError, PartMismatchError } from "./open-upload.ts";

/**
 * What a failed upload means.
 * `moved`: the file is not the version that was wanted · `rewritten`: the same, but it does not show · `unreadable`: the disk or its permissions · `cancelled`: the cloud
 * does not want it any more · `again`: the agent's trouble or the cloud's, never the file's.
 */
export type UploadFailure = "moved" | "rewritten" | "unreadable" | "cancelled" | "again";

const cancelling = ["RequestSuperseded", "VersionSuperseded"];

export function classifyFailure(failure: unknown): UploadFailure {
  if (failure instanceof FileMovedError || failure instanceof SourceChangedError) return "moved";
  if (failure instanceof PartMismatchError || failure instanceof ContentMismatchError) return "rewritten";
  if (isFileSystemError(failure)) return "unreadable";
  if (failure instanceof ApiFailure && cancelling.includes(failure.code ?? "")) return "cancelled";
  return "again";
}
