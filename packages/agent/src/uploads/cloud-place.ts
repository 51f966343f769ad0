import { api, type Output } from "@downlink/protocol";
import type { CloudSession } from "../cloud/session.ts";
import { isPartWorthRetrying } from "./part-retries.ts";
import type { UploadPlace } from "./upload-place.ts";

interface CloudUpload {
  readonly session: CloudSession;
  readonly requestId: string;
  readonly opened: Output<typeof api.edge.openUpload>;
}

/** The control plane as the place of an upload that it has opened. */
export function createCloudPlace({ session, requestId, opened }: CloudUpload): UploadPlace {
  const ids = { requestId, uploadId: opened.uploadId };
  return {
    open: async () => opened,
    grantParts: (parts, signal) => session.call(api.edge.grantParts, { ...ids, parts: [...parts] }, { signal }),
    grantPieces: ({ number, pieces }, signal) =>
      session.call(api.edge.grantPieces, { ...ids, number, pieces: [...pieces] }, { signal }),
    composePart: (part, signal) => session.call(api.edge.composePart, { ...ids, ...part }, { signal }),
    async complete({ parts, sha256 }, signal) {
      await session.call(api.edge.completeUpload, { ...ids, parts: [...parts], sha256 }, { signal });
    },
    noteFailure: () => {},
    isWorthRetrying: isPartWorthRetrying,
    waitToRetry: (failure, attempt, signal) => session.waitToRetry(failure, attempt, signal),
  };
}
