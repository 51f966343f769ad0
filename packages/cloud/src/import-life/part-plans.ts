import { edgeLimits } from "@downlink/protocol";
import { ApiError } from "../core/errors.ts";
import type { UploadPlan } from "../store/blobs/blob-store.ts";

/** How many bytes an upload has, and each of its parts. */
type Planned = { readonly [K in "sizeBytes" | "partSizeBytes"]: bigint | null };

export function planOf({ sizeBytes, partSizeBytes }: Planned): UploadPlan {
  return { sizeBytes: Number(sizeBytes), partSizeBytes: Number(partSizeBytes) };
}

/** Returns the size in bytes: 16 MiB or what an agent on a slow link asks for, and more only if there would be too many parts. */
export function partSizeFor(sizeBytes: number, wantedBytes: number = edgeLimits.minPartBytes): number {
  return Math.max(wantedBytes, Math.ceil(sizeBytes / edgeLimits.maxParts));
}

export function requirePartLength(upload: Planned, part: { number: number; length: number }): void {
  const { sizeBytes, partSizeBytes } = planOf(upload);
  const offset = (part.number - 1) * partSizeBytes;
  const expected = Math.min(partSizeBytes, sizeBytes - offset);
  if (part.length !== expected)
    throw new ApiError(
      "InvalidRequest",
      `part ${part.number} must hold ${Math.max(0, expected)} bytes, not ${part.length}`,
    );
}
